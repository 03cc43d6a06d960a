// SPDX-License-Identifier: Apache-2.0
// Formats of keys, values, positions and row ids are checked completely, and so are enumerators.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

constexpr std::array all_types{key_type::uint32, key_type::uint64,  key_type::int32,
                               key_type::int64,  key_type::float32, key_type::float64,
                               key_type::bytes};

// A format as nobody should write it.
key_format forced(key_type type, int width) {
  key_format format(type);
  format.width = static_cast<std::uint8_t>(width);
  return format;
}

std::vector<key_format> illegal_formats() {
  std::vector<key_format> all;
  for (const key_type type : all_types) {
    for (const int width : {0, 1, 2, 3, 4, 5, 8, 9, 12, 16, 255}) {
      const key_format format = forced(type, width);
      const bool wide =
          type == key_type::uint64 || type == key_type::int64 || type == key_type::float64;
      const bool legal =
          type == key_type::bytes ? width >= 1 && width <= 8 : width == (wide ? 8 : 4);
      EXPECT_EQ(format.is_legal(), legal) << to_string(format) << " of " << width << " bytes";
      if (!legal) all.push_back(format);
    }
  }
  for (const int width : {0, 1, 4, 8})
    all.push_back(forced(static_cast<key_type>(99), width));
  return all;
}

TEST(formats, a_type_brings_its_width) {
  EXPECT_EQ(key_format(), format_of<std::uint32_t>);
  EXPECT_EQ(key_format(key_type::uint64), format_of<std::uint64_t>);
  EXPECT_EQ(key_format{key_type::uint64}.width, 8);
  EXPECT_EQ(key_format(key_type::float32), format_of<float>);
  EXPECT_EQ(key_format(key_type::float64).width, 8);
  for (std::uint8_t width = 1; width <= 8; ++width) {
    EXPECT_TRUE(key_format::bytes(width).is_legal());
    EXPECT_EQ(key_format::bytes(width).width, width);
  }
  EXPECT_EQ(key_format::bytes(3), (format_of<std::array<char, 3>>));
  EXPECT_FALSE(key_format(key_type::bytes).is_legal()) << "strings of no length";
}

TEST(formats, what_is_no_format_is_refused_everywhere) {
  const session cpu(backend::cpu);
  const std::vector<std::uint64_t> cells(64, 1);
  const column keys{std::span<const std::uint64_t>(cells)};
  const auto built = build("cgrx", backend::cpu, cpu, keys, {}, {{"node", "32"}});
  const auto minima = build_rmq("rmq_cover", backend::cpu, cpu, keys);
  std::vector<std::uint64_t> out(4);
  std::vector<double> sums(4);
  for (const key_format format : illegal_formats()) {
    const column wrong(format, cells.data(), 4);
    column few = keys;
    few.size = 4;
    const std::vector<std::function<void()>> calls{
        [&] { build("auto", backend::cpu, cpu, wrong); },
        [&] { build("auto", backend::cpu, cpu, few, wrong); },
        [&] { built->count(cpu, points(wrong), out); },
        [&] { built->count(cpu, ranges(few, wrong), out); },
        [&] { built->sum(cpu, points(few), column(format, cells.data(), 64), std::span(out)); },
        [&] { built->sum(cpu, points(few), column(format, cells.data(), 64), std::span(sums)); },
        [&] { built->edit(nullptr, {.insert = wrong, .insert_rows = wrong}); },
        [&] { built->edit(nullptr, {.insert = few, .insert_rows = wrong}); },
        [&] { built->edit(nullptr, {.erase = wrong}); },
        [&] { built->edit(nullptr, {.erase = few, .erase_rows = wrong}); },
        [&] { build_rmq("auto", backend::cpu, cpu, wrong); },
        [&] { minima->position(cpu, ranges(wrong, wrong), out); },
        [&] { minima->minimum(cpu, ranges(few, few), value_span(format, out.data(), 4)); },
        [&] { minima->refresh(nullptr, wrong); },
        [&] { advise({.n = 10, .key = format}); }};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_THROW(calls[i](), invalid_argument) << "call " << i << " with " << to_string(format)
                                                 << " of " << int{format.width} << " bytes";
    }
  }
}

TEST(formats, messages_say_what_is_wrong_and_what_would_be_legal) {
  const session cpu(backend::cpu);
  const std::uint64_t cell = 1;
  expect_error<invalid_argument>(
      [&] {
        build("auto", backend::cpu, cpu, {forced(key_type::uint64, 4), &cell, 1});
      },
      {"keys", "uint64 of 4 bytes", "uint64, int64 and double 8"});
  expect_error<invalid_argument>(
      [&] {
        build("auto", backend::cpu, cpu, {forced(static_cast<key_type>(99), 4), &cell, 1});
      },
      {"keys", "type 99", "uint32"});
}

TEST(formats, outputs_of_no_row_id_type_are_refused) {
  const session cpu(backend::cpu);
  const std::vector<std::uint32_t> cells(4, 1);
  const column keys{std::span<const std::uint32_t>(cells)};
  const auto built = build("auto", backend::cpu, cpu, keys);
  std::vector<std::uint32_t> out(4);
  expect_error<invalid_argument>(
      [&] {
        built->first(cpu, points(keys), {static_cast<row_id_type>(99), out.data(), out.size()});
      },
      {"out", "type 99", "uint32"});
}

TEST(formats, what_is_no_backend_is_refused) {
  const auto none = static_cast<backend>(99);
  const session cpu(backend::cpu);
  const std::uint32_t cell = 1;
  const column keys(format_of<std::uint32_t>, &cell, 1);
  expect_error<invalid_argument>([&] { to_string(none); }, {"backend", "99"});
  expect_error<invalid_argument>([&] { why_unavailable(none); }, {"backend", "99"});
  expect_error<invalid_argument>([&] { const session other(none); }, {"backend", "99"});
  expect_error<invalid_argument>([&] { build("auto", none, cpu, keys); }, {"backend", "99"});
  expect_error<invalid_argument>([&] { build("rx", none, cpu, keys); }, {"backend", "99"});
  expect_error<invalid_argument>([&] { build_rmq("auto", none, cpu, keys); }, {"backend", "99"});
}

TEST(formats, what_is_no_choice_of_an_option_is_refused) {
  const session cpu(backend::cpu);
  const std::uint32_t cell = 1;
  const column keys(format_of<std::uint32_t>, &cell, 1);
  const auto none = [](auto& choice) {
    choice = static_cast<std::remove_reference_t<decltype(choice)>>(99);
  };
  const auto refused = [&](const char* option, const auto& build) {
    expect_error<invalid_argument>(build, {option, "99"});
  };
  refused("option layout", [&] {
    sorted_array_options options;
    none(options.layout);
    build_sorted_array(backend::cpu, cpu, keys, {}, options);
  });
  refused("option pin", [&] {
    eytzinger_options options;
    none(options.batch.pin.emplace());
    build_eytzinger(backend::cpu, cpu, keys, {}, options);
  });
  refused("option search", [&] {
    pivot_tree_options options;
    none(options.search);
    build_pivot_tree(backend::cpu, cpu, keys, {}, options);
  });
  refused("option mode", [&] {
    rx_options options;
    none(options.mode);
    build_rx(backend::cpu, cpu, keys, {}, options);
  });
  refused("option mapping", [&] {
    cgrx_options options;
    none(options.mapping);
    build_cgrx(backend::cpu, cpu, keys, {}, options);
  });
  refused("option ties", [&] {
    rmq_scan_options options;
    none(options.ties);
    build_rmq_scan(backend::cpu, cpu, keys, options);
  });
  refused("option memory", [&] {
    rmq_cover_options options;
    none(options.memory);
    build_rmq_cover(backend::cpu, cpu, keys, options);
  });
  refused("option assign", [&] {
    rmq_hierarchy_options options;
    none(options.assign);
    build_rmq_hierarchy(backend::cpu, cpu, keys, options);
  });
}

}  // namespace
}  // namespace raydex
