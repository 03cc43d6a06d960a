// SPDX-License-Identifier: Apache-2.0
// Structures with 64-bit places. A build takes these for arrays of about 2^32 values and more; here
// they are made for short ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/structures/papers/rmq_hierarchy/on_cuda.cuh"
#include "src/structures/papers/rmq_lca/rmq_lca.hpp"
#include "src/structures/rmq_cover/on_cuda.cuh"
#include "src/structures/rmq_scan/rmq_scan.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class rmq_wide_places : public test::backend_test {
 protected:
  // Ranges, and the answers to them.
  template <class T>
  void check_answers(const rmq& built, const std::vector<T>& host, rmq_ties ties) const {
    const test::rmq_oracle<T> oracle(host, ties);
    auto random = test::generator(host.size());
    std::vector<std::uint64_t> lower{0, host.size() - 1, host.size(), 5};
    std::vector<std::uint64_t> upper{host.size() - 1, host.size(), host.size(), 4};
    for (int i = 0; i < 1500; ++i) {
      const std::size_t length = 1 + test::below(random, i % 2 == 0 ? host.size() : 300);
      lower.push_back(test::below(random, host.size() - length + 1));
      upper.push_back(lower.back() + length - 1);
    }
    const auto lower_ends = at().upload(lower);
    const auto upper_ends = at().upload(upper);
    const probes batch = ranges(column(lower_ends), column(upper_ends));
    buffer<std::uint64_t> positions(at(), lower.size());
    buffer<T> minima(at(), lower.size());
    built.position(at(), batch, std::span(positions.data(), positions.size()));
    built.minimum(at(), batch, value_span(minima));
    const auto found = at().download(positions);
    const auto least = at().download(minima);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const auto expected = oracle.position(lower[i], upper[i]);
      ASSERT_EQ(found[i], expected.value_or(no_position)) << lower[i] << " to " << upper[i];
      if (expected) {
        ASSERT_EQ(least[i], host[*expected]) << lower[i] << " to " << upper[i];
      }
    }
  }

  // `make(values, info, array, ties)`: the structure, with places of 64 bits.
  template <class T, class Make>
  void check(const Make& make) const {
    auto random = test::generator();
    // Long enough for tables and masks to answer.
    std::vector<T> host(test::tested_by_emulation() ? 30'001 : 1'000'001);
    for (T& value : host)
      value = static_cast<T>(test::below(random, host.size()));
    auto array = at().upload(host);
    host.erase(host.begin());
    const column values(format_of<T>, array.data() + 1, host.size());
    for (const rmq_ties ties : {rmq_ties::leftmost, rmq_ties::rightmost}) {
      rmq_info info;
      info.where = backend::cuda;
      info.value = values.format;
      info.n = values.size;
      const auto built = make(info, values, ties);
      SCOPED_TRACE(to_string(values.format));
      check_answers(*built, host, ties);
      if (HasFatalFailure()) return;
    }
  }
  // The same for values of both widths; `make.operator()<Value>(...)`.
  template <class Make>
  void check_types(const Make& make) const {
    const auto as = [&]<class T>(T /*zero*/) {
      check<T>([&](const rmq_info& info, const column& values, rmq_ties ties) {
        return make.template operator()<core::ordered_as<T>>(info, values, ties);
      });
    };
    as(float{});
    as(std::int64_t{});
  }
};

TEST_F(rmq_wide_places, cover) {
  for (const rmq_memory memory : {rmq_memory::fast, rmq_memory::small}) {
    check_types([&]<class Value>(const rmq_info& info, const column& values, rmq_ties ties) {
      using built =
          built_rmq_cover<core::compared_as<Value>, std::uint64_t, cuda::rmq_cover_executor>;
      return std::make_unique<built>(info, at(), values,
                                     rmq_cover_options{.memory = memory, .ties = ties});
    });
  }
}

TEST_F(rmq_wide_places, hierarchy) {
  const rmq_hierarchy_options by_threads{
      .chunk = 4, .cutoff = 9, .load = hierarchy_load::vector, .group = 1};
  const rmq_hierarchy_options by_groups{
      .chunk = 32, .cutoff = 64, .load = hierarchy_load::coalesced, .group = 16};
  for (rmq_hierarchy_options options : {by_threads, by_groups}) {
    check_types([&]<class Value>(const rmq_info& info, const column& values, rmq_ties ties) {
      using built = built_rmq_hierarchy<Value, std::uint64_t, cuda::rmq_hierarchy_executor>;
      options.ties = ties;
      return std::make_unique<built>(info, at(), values, options);
    });
  }
}

TEST_F(rmq_wide_places, lowest_common_ancestors) {
  check_types([&]<class Value>(const rmq_info& info, const column& values, rmq_ties ties) {
    using built = built_rmq_lca<Value, std::uint64_t, cuda::executor>;
    return std::make_unique<built>(info, at(), values, rmq_lca_options{.ties = ties});
  });
}

TEST_F(rmq_wide_places, scan) {
  check_types([&]<class Value>(const rmq_info& info, const column& values, rmq_ties ties) {
    using built = built_rmq_scan<Value, std::uint64_t, cuda::executor>;
    return std::make_unique<built>(info, at(), values, rmq_scan_options{.ties = ties});
  });
}

}  // namespace
}  // namespace raydex
