// SPDX-License-Identifier: Apache-2.0
// Bad options are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

class cgrx_arguments : public testing::Test {
 protected:
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }
  std::unique_ptr<index> built(const option_map& options) const {
    return build("cgrx", backend::cpu, cpu_, keys_, {}, options);
  }

  const session cpu_{backend::cpu};
  const std::array<std::uint32_t, 4> cells_{4, 3, 2, 1};
  const column keys_{std::span<const std::uint32_t>(cells_)};
};

TEST_F(cgrx_arguments, words_are_listed) {
  refused({{"scene", "best"}}, {"option scene", "'best'", "optimised", "naive"});
  refused({{"layout", "row"}}, {"option layout", "'row'", "column", "aligned", "packed"});
  refused({{"mapping", "none"}}, {"option mapping", "'none'", "fit", "bits"});
  refused({{"search", "fast"}}, {"option search", "'fast'", "binary", "linear"});
  refused({{"scan", "many"}}, {"option scan", "'many'", "multi", "single"});
  refused({{"compact", "yes"}}, {"option compact", "'yes'", "on", "off"});
  refused({{"build", "slow"}}, {"option build", "'slow'", "fast", "trace"});
  refused({{"order", "random"}}, {"option order", "'random'", "auto", "batch", "tiles", "sorted"});
}

TEST_F(cgrx_arguments, buckets_hold_from_2_to_65536_entries) {
  for (const char* bucket : {"0", "1", "65537", "4294967295"})
    refused({{"bucket", bucket}}, {"option bucket", bucket, "2 to 65536"});
  refused({{"bucket", "few"}}, {"option bucket", "'few'", "number"});
  for (const char* bucket : {"2", "65536"}) {
    const std::string said = std::string("bucket=").append(bucket);
    EXPECT_NE(built({{"bucket", bucket}})->info().options.find(said), std::string::npos);
  }
}

TEST_F(cgrx_arguments, bits_and_scale_are_for_their_mapping) {
  refused({{"bits", "23/23/18"}}, {"'bits'", "cgrx", "for bits"});
  refused({{"mapping", "bits"}, {"bits", "24/1/1"}}, {"option bits", "24/1/1", "23"});
  refused({{"mapping", "bits"}, {"scale", "15/25"}}, {"option scale", "15/25", "16/21"});
  // Bits that 15/21 is too long for take shorter steps.
  EXPECT_NO_THROW(built({{"mapping", "bits"}, {"bits", "20/22/22"}}));
  refused({{"parts", "4097"}}, {"option parts", "4097", "1 to 4096"});
  test::expect_error<unsupported>(
      [&] {
        built({{"mapping", "bits"}, {"bits", "1/1/0"}, {"scale", "0/0"}});
      },
      {"code 4", "up to 3", "mapping=fit"});
}

TEST_F(cgrx_arguments, layouts_are_for_sorted_columns) {
  for (const char* layout : {"aligned", "packed"}) {
    const std::string said = std::string("layout=").append(layout);
    EXPECT_NE(built({{"layout", layout}})->info().options.find(said), std::string::npos);
    test::expect_error<unsupported>(
        [&] {
          built({{"node", "16"}, {"layout", layout}});
        },
        {"option layout", layout, "node=off"});
  }
  EXPECT_NE(built({{"node", "16"}, {"layout", "column"}}), nullptr);
}

TEST_F(cgrx_arguments, other_backends_are_refused) {
  test::expect_error<unsupported>([&] { build("cgrx", backend::cuda, cpu_, keys_); },
                                  {"cgrx", "cuda", "cpu", "optix"});
}

}  // namespace
}  // namespace raydex
