// SPDX-License-Identifier: Apache-2.0
// Keys at the edges of rows and planes, in all modes, against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"
#include "tests/support/repairs.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

using keys64 = std::vector<std::uint64_t>;

class rx_edges : public test::backend_test {
 protected:
  // Asks for every key, its neighbours, and ranges between them.
  template <class Key>
  void check(std::vector<Key> keys, const option_map& options, std::uint64_t most_probe) const {
    std::string named;
    for (const auto& [name, value] : options)
      named.append(" ").append(name).append("=").append(value);
    SCOPED_TRACE(named);
    auto random = test::generator(keys.size());
    std::shuffle(keys.begin(), keys.end(), random);
    std::vector<std::optional<Key>> column_cells(keys.begin(), keys.end());
    std::vector<std::uint64_t> ids(keys.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = i;
    const test::oracle<Key> expected(column_cells, ids);

    const auto cells = at().upload(keys);
    const auto built = build("rx", at().where(), at(), column(cells), {}, options);
    std::vector<Key> lower;
    std::vector<Key> upper;
    const auto ask = [&](std::uint64_t a, std::uint64_t b) {
      lower.push_back(static_cast<Key>(std::min(a, most_probe)));
      upper.push_back(static_cast<Key>(std::min(b, most_probe)));
    };
    for (const Key key : keys) {
      ask(key, key);
      ask(key + 1ULL, key + 1ULL);
      if (key != 0) ask(key - 1ULL, key - 1ULL);
      ask(key, keys[random() % keys.size()]);
      ask(key - std::min<std::uint64_t>(key, random() % 1000), key + random() % 1000);
    }
    ask(0, most_probe);
    ask(most_probe, most_probe);
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    for (const bool as_points : {true, false}) {
      const probes batch = as_points ? points(column(lower_cells))
                                     : ranges(column(lower_cells), column(upper_cells));
      const matches found = built->rows(at(), batch);
      const auto offsets = at().download(found.offsets);
      std::vector<std::uint32_t> rows(found.total);
      at().copy_out(rows.data(), found.rows.data(), found.rows.bytes());
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const auto wanted = expected.rows(lower[i], as_points ? lower[i] : upper[i]);
        const std::vector<std::uint64_t> got(
            rows.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
            rows.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]));
        ASSERT_EQ(got, wanted) << (as_points ? "point " : "range ") << lower[i] << " to "
                               << (as_points ? lower[i] : upper[i]);
      }
    }
    ASSERT_LE(repairs(*built, context(at()).stream), test::most_repairs(*built, 2 * lower.size()));
  }

  template <class Key>
  void check_all(const std::vector<Key>& keys, const option_map& mode, bool with_spheres,
                 std::uint64_t most_probe = static_cast<Key>(-1)) const {
    for (const char* primitive : {"triangle", "box", "sphere"}) {
      if (!with_spheres && std::string_view(primitive) == "sphere") continue;
      for (const char* rays : {"offset", "zero"}) {
        option_map options = mode;
        options["primitive"] = primitive;
        options["ranges"] = rays;
        check(keys, options, most_probe);
        options["hits"] = "any";
        options["duplicates"] = "keep";
        options["parts"] = "3";
        check(keys, options, most_probe);
        options["hits"] = "closest";
        options["inverse"] = "on";
        check(keys, options, most_probe);
        if (HasFatalFailure()) return;
      }
    }
  }
};

// All combinations of the edges of three fields.
keys64 edges(unsigned x_bits, unsigned y_bits, unsigned z_bits) {
  const auto ends = [](unsigned bits) {
    const std::uint64_t most = (std::uint64_t{1} << bits) - 1;
    keys64 all{0, 1, most / 2, most / 2 + 1, most - 1, most};
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  keys64 keys;
  for (const std::uint64_t x : ends(x_bits)) {
    for (const std::uint64_t y : ends(y_bits)) {
      for (const std::uint64_t z : ends(z_bits))
        keys.push_back(x | y << x_bits | z << (x_bits + y_bits));
    }
  }
  return keys;
}

TEST_F(rx_edges, copies_of_a_key_in_several_parts) {
  for (const std::uint64_t key : {0ULL, 1ULL, 1ULL << 23, ~0ULL}) {
    keys64 keys(9, key);
    keys.insert(keys.end(), {key / 2, key, key - 1, key + 1});
    for (const char* hits : {"any", "closest"}) {
      for (const char* parts : {"3", "13"})
        check(keys, {{"hits", hits}, {"duplicates", "keep"}, {"parts", parts}}, ~0ULL);
    }
  }
}

TEST_F(rx_edges, rows_and_planes_of_64_bit_keys) {
  check_all(edges(23, 23, 18), {}, true);
  check_all(edges(18, 23, 23), {{"bits", "18/23/23"}}, true);
  check_all(edges(23, 18, 23), {{"bits", "23/18/23"}}, true);
}

TEST_F(rx_edges, rows_and_planes_of_long_steps) {
  check_all(edges(23, 23, 18), {{"scale", "15/21"}}, false);
  check_all(edges(18, 23, 23), {{"bits", "18/23/23"}, {"scale", "16/16"}}, false);
}

TEST_F(rx_edges, rows_of_32_bit_keys) {
  for (const unsigned x_bits : {23U, 16U, 9U}) {
    std::vector<std::uint32_t> keys;
    for (const std::uint64_t key : edges(x_bits, 32 - x_bits - (x_bits == 9 ? 5 : 0), 1)) {
      if (key <= 0xffff'ffff) keys.push_back(static_cast<std::uint32_t>(key));
    }
    const std::string bits = std::to_string(x_bits).append("/23/23");
    check_all(keys, {{"bits", bits}}, true);
  }
}

TEST_F(rx_edges, one_row_one_plane_and_a_key_a_row) {
  keys64 one_row;
  keys64 own_rows;
  keys64 own_planes;
  for (std::uint64_t i = 0; i < 300; ++i) {
    one_row.push_back(5 * (std::uint64_t{1} << 46) + 7 * (1 << 23) + 3 * i);
    own_rows.push_back(i * (std::uint64_t{1} << 23) + i * i);
    own_planes.push_back(i * (std::uint64_t{1} << 46) + i * i * i);
  }
  check_all(one_row, {}, true);
  check_all(own_rows, {}, true);
  check_all(own_planes, {}, true);
}

TEST_F(rx_edges, random_keys_in_few_rows_and_planes) {
  auto random = test::generator();
  keys64 keys;
  for (int i = 0; i < 500; ++i) {
    keys.push_back((random() % 3 == 0 ? 0x7f'ffff : random() & 0x7f'ffff) | (random() % 20) << 23 |
                   (random() % 4) << 46);
  }
  check_all(keys, {}, true);
}

TEST_F(rx_edges, naive_mode_holds_keys_below_2_to_the_23) {
  std::vector<std::uint32_t> keys{0, 1, (1 << 22) - 1, 1 << 22, (1 << 23) - 2, (1 << 23) - 1};
  auto random = test::generator();
  for (int i = 0; i < 500; ++i)
    keys.push_back(static_cast<std::uint32_t>(random() % (1 << 23)));
  check_all(keys, {{"mode", "naive"}}, true);
  keys.push_back(1 << 23);
  test::expect_error<unsupported>(
      [&] {
        check(keys, {{"mode", "naive"}}, 1 << 24);
      },
      {"8388608", "up to 8388607"});
}

TEST_F(rx_edges, extended_mode_holds_keys_below_2_to_the_29) {
  std::vector<std::uint64_t> keys{0, 1, (1 << 28) - 1, 1 << 28, (1 << 29) - 2, (1 << 29) - 1};
  auto random = test::generator();
  for (std::uint64_t i = 0; i < 200; ++i) {
    keys.push_back(random() % (1 << 29));
    keys.push_back((1 << 23) + i);
  }
  check_all(keys, {{"mode", "extended"}}, false);
  keys.push_back(1 << 29);
  test::expect_error<unsupported>(
      [&] {
        check(keys, {{"mode", "extended"}}, 1 << 30);
      },
      {"536870912", "up to 536870911"});
  test::expect_error<unsupported>(
      [&] {
        check(keys, {{"mode", "extended"}, {"primitive", "sphere"}}, 1);
      },
      {"option primitive", "sphere"});
}

TEST_F(rx_edges, too_few_bits_are_refused_where_a_key_needs_more) {
  const keys64 keys{0, 1 << 20, (1 << 30) - 1};
  check(keys, {{"bits", "10/10/10"}}, ~0ULL);
  test::expect_error<unsupported>(
      [&] {
        check(keys, {{"bits", "10/10/9"}}, 1);
      },
      {"1073741823", "up to 536870911"});
}

}  // namespace
}  // namespace raydex
