// SPDX-License-Identifier: Apache-2.0
// Bad options are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

class rx_arguments : public testing::Test {
 protected:
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }
  std::unique_ptr<index> built(const option_map& options) const {
    return build("rx", backend::cpu, cpu_, keys_, {}, options);
  }

  const session cpu_{backend::cpu};
  const std::array<std::uint32_t, 4> cells_{4, 3, 2, 1};
  const column keys_{std::span<const std::uint32_t>(cells_)};
};

TEST_F(rx_arguments, words_are_listed) {
  refused({{"mode", "2d"}}, {"option mode", "'2d'", "3d", "naive", "extended"});
  refused({{"primitive", "cube"}}, {"option primitive", "'cube'", "auto", "triangle", "sphere"});
  refused({{"ranges", "all"}}, {"option ranges", "'all'", "offset", "zero"});
  refused({{"hits", "first"}}, {"option hits", "'first'", "closest", "any"});
  refused({{"duplicates", "drop"}}, {"option duplicates", "'drop'", "compress", "keep"});
  refused({{"compact", "yes"}}, {"option compact", "'yes'", "on", "off"});
  EXPECT_NE(built({{"compact", "auto"}})->info().options.find("compact=auto"), std::string::npos);
  refused({{"build", "slow"}}, {"option build", "'slow'", "fast", "trace"});
  refused({{"order", "random"}}, {"option order", "'random'", "auto", "batch", "tiles", "sorted"});
  refused({{"inverse", "yes"}}, {"option inverse", "'yes'", "off", "on", "auto"});
}

TEST_F(rx_arguments, what_is_left_of_former_options_is_taken) {
  for (const char* top : {"table", "instances"}) {
    const option_map former{{"points", "perpendicular"}, {"top", top}, {"update", "rebuild"}};
    EXPECT_EQ(built(former)->info().options, built({})->info().options);
  }
  refused({{"points", "zero"}}, {"option points", "'zero'", "perpendicular"});
  refused({{"update", "refit"}}, {"option update", "'refit'", "rebuild"});
}

TEST_F(rx_arguments, a_coordinate_has_23_bits_at_most) {
  for (const char* bits : {"24/23/17", "23/24/17", "9/23/4294967295"})
    refused({{"bits", bits}}, {"option bits", bits, "23"});
  for (const char* bits :
       {"", "23", "23/23", "23/23/18/1", "23/23/", "23,23,18", "a/b/c", " 1/1/1"})
    refused({{"bits", bits}}, {"option bits", test::quoted(bits), "23/23/18"});
  refused({{"mode", "naive"}, {"bits", "23/0/0"}}, {"'bits'", "rx"});
  EXPECT_NE(built({{"bits", "1/2/0"}})->info().options.find("bits=1/2/0"), std::string::npos);
}

TEST_F(rx_arguments, a_scale_and_its_bits_are_39_at_most) {
  for (const char* scale : {"17/0", "0/22", "4294967295/0"})
    refused({{"scale", scale}}, {"option scale", scale, "23/23/18", "16/21"});
  for (const char* scale : {"", "15", "15/", "15/25/3", "a/b"})
    refused({{"scale", scale}}, {"option scale", test::quoted(scale), "15/20"});
  test::expect_error<unsupported>(
      [&] {
        built({{"scale", "0/1"}, {"primitive", "sphere"}});
      },
      {"spheres", "scale"});
  EXPECT_NE(built({{"scale", "16/21"}})->info().options.find("scale=16/21"), std::string::npos);
}

TEST_F(rx_arguments, parts_are_from_1_to_4096) {
  for (const char* parts : {"0", "4097", "4294967295"})
    refused({{"parts", parts}}, {"option parts", parts, "1 to 4096"});
  refused({{"parts", "few"}}, {"option parts", "'few'", "number"});
  EXPECT_NE(built({{"parts", "4096"}})->info().options.find("parts=4096"), std::string::npos);
  EXPECT_NE(built({{"parts", "auto"}})->info().options.find("parts=auto"), std::string::npos);
}

TEST_F(rx_arguments, unknown_options_are_answered_with_the_known_ones) {
  for (const char* option : {"threads", "layout", "k", ""})
    refused({{option, "9"}}, {test::quoted(option), "rx", "mode=3d|naive|extended", "order="});
}

TEST_F(rx_arguments, other_backends_are_refused) {
  test::expect_error<unsupported>([&] { build("rx", backend::cuda, cpu_, keys_); },
                                  {"rx", "cuda", "cpu", "optix"});
}

}  // namespace
}  // namespace raydex
