// SPDX-License-Identifier: Apache-2.0
// Structures that take changed values answer as if they had been built over them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "rmq/oracle.hpp"
#include "support/expect_error.hpp"
#include "support/tested_backend.hpp"

namespace raydex {
namespace {

class rmq_refresh : public test::backend_test {
 protected:
  // The structures of this backend that take changed values.
  template <class Function>
  void for_each_structure(const Function& f) const {
    for (const rmq_capability& able : rmq_capabilities())
      if (able.where == test::tested_backend() && able.updates) f(able.structure);
  }

  // Values change, first one of them, then a few, then nearly all.
  template <class T, class Position>
  void check(const std::string& structure, const option_map& options) const {
    SCOPED_TRACE(structure);
    auto random = test::generator(options.size());
    const std::size_t size = test::tested_by_emulation() ? 3001 : 60'001;
    std::vector<T> host(size);
    for (T& value : host)
      value = static_cast<T>(test::below(random, 1000));
    auto array = at().upload(host);
    const auto built = build_rmq(structure, at().where(), at(), column(array), options);
    for (const std::size_t changes : {std::size_t{1}, std::size_t{40}, size}) {
      std::vector<Position> positions;
      for (std::size_t i = 0; i < changes; ++i) {
        const std::size_t position = test::below(random, size);
        host[position] = static_cast<T>(i % 2 == 0 ? 0 : 5000);  // below all others, or above
        positions.push_back(static_cast<Position>(position));
      }
      // Repeated ones are legal, those beyond the array are not looked at.
      positions.push_back(positions.front());
      positions.push_back(static_cast<Position>(size));
      positions.push_back(std::numeric_limits<Position>::max());
      positions.push_back(static_cast<Position>(-1));
      at().copy_in(array.data(), host.data(), array.bytes());
      const auto changed = at().upload(positions);
      built->refresh(context(at()).stream, column(changed));
      const bool rightmost = options.contains("ties");
      check_answers(*built, host, rightmost ? rmq_ties::rightmost : rmq_ties::leftmost, random);
    }
  }

 private:
  template <class T>
  void check_answers(const rmq& built, const std::vector<T>& host, rmq_ties ties,
                     std::mt19937_64& random) const {
    const test::rmq_oracle<T> oracle(host, ties);
    std::vector<std::uint32_t> lower;
    std::vector<std::uint32_t> upper;
    for (int i = 0; i < 500; ++i) {
      const std::size_t length = 1 + test::below(random, i % 2 == 0 ? host.size() : 200);
      lower.push_back(static_cast<std::uint32_t>(test::below(random, host.size() - length + 1)));
      upper.push_back(static_cast<std::uint32_t>(lower.back() + length - 1));
    }
    const auto lower_ends = at().upload(lower);
    const auto upper_ends = at().upload(upper);
    buffer<std::uint64_t> out(at(), lower.size());
    built.position(at(), ranges(column(lower_ends), column(upper_ends)),
                   std::span(out.data(), out.size()));
    const auto found = at().download(out);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], oracle.position(lower[i], upper[i])) << lower[i] << " " << upper[i];
  }
};

TEST_F(rmq_refresh, takes_changed_values) {
  for_each_structure([&](const std::string& structure) {
    check<float, std::uint32_t>(structure, {});
    check<double, std::int64_t>(structure, {{"ties", "rightmost"}});
    check<std::uint32_t, std::uint64_t>(structure, {});
    check<std::int64_t, std::int32_t>(structure, {});
  });
}

TEST_F(rmq_refresh, with_options) {
  for (const auto& [structure, options] : std::vector<std::pair<std::string, option_map>>{
           {"rmq_cover", {{"memory", "small"}}},
           {"rmq_hierarchy", {{"chunk", "2"}, {"cutoff", "2"}}},
           {"rmq_hierarchy", {{"chunk", "128"}, {"ties", "rightmost"}}},
           {"rmq_hierarchy", {{"load", "coalesced"}}}}) {
    check<float, std::uint32_t>(structure, options);
    check<std::int64_t, std::int32_t>(structure, options);
  }
}

TEST_F(rmq_refresh, positions_are_integers_and_not_missing) {
  const auto array = at().upload(std::vector<float>(100, 1.0F));
  const auto wrong = at().upload(std::vector<float>(3, 1.0F));
  const auto some = at().upload(std::vector<std::uint32_t>(3, 1));
  const auto bits = at().upload(std::vector<std::uint8_t>(1, 5));
  for_each_structure([&](const std::string& structure) {
    const auto built = build_rmq(structure, at().where(), at(), column(array));
    const stream_t stream = context(at()).stream;
    test::expect_error<invalid_argument>([&] { built->refresh(stream, column(wrong)); },
                                         {"positions", "float", "uint32"});
    test::expect_error<invalid_argument>([&] { built->refresh(stream, column(some, bits.data())); },
                                         {"positions", "missing"});
    built->refresh(stream, column(format_of<std::uint32_t>, nullptr, 0));
  });
}

}  // namespace
}  // namespace raydex
