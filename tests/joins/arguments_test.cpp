// SPDX-License-Identifier: Apache-2.0
// What joins refuse: formats, sizes and places that do not fit. And what they do when memory runs
// out.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

using rows32 = std::vector<std::uint32_t>;
using rows64 = std::vector<std::uint64_t>;

class join_arguments : public testing::Test {
 protected:
  std::unique_ptr<join> built(const key_parts& keys) const {
    return build_join(backend::cpu, at_, keys);
  }
  std::unique_ptr<joined> matched(join_kind kind) const {
    return built({column(keys_)})->match(at_, key_parts{column(keys_)}, kind);
  }

  const session at_{backend::cpu};
  const std::vector<std::uint32_t> keys_{3, 1, 2};
  const std::vector<std::int32_t> signed_{3, 1, 2};
  const std::vector<double> doubles_{3, 1, 2};
  const std::vector<std::uint32_t> few_{3, 1};
  const std::string bytes_ = "abc";
  const std::vector<std::uint32_t> offsets_{0, 1, 2, 3};
  const string_column strings_{.bytes = bytes_.data(), .offsets = offsets_.data(), .size = 3};
  const std::unique_ptr<join> one_ = built({column(keys_)});
  const std::unique_ptr<join> two_ = built({column(keys_), strings_});
};

TEST_F(join_arguments, kinds_have_names) {
  EXPECT_EQ(to_string(join_kind::inner), "inner");
  EXPECT_EQ(to_string(join_kind::left), "left");
  EXPECT_EQ(to_string(join_kind::right), "right");
  EXPECT_EQ(to_string(join_kind::full), "full");
  EXPECT_EQ(to_string(join_kind::semi), "semi");
  EXPECT_EQ(to_string(join_kind::anti), "anti");
  const auto none = static_cast<join_kind>(9);
  expect_error<invalid_argument>([&] { to_string(none); },
                                 {"9", "inner, left, right, full, semi, anti"});
  EXPECT_THROW(one_->match(at_, key_parts{column(keys_)}, none), invalid_argument);
  EXPECT_THROW(
      one_->match_compared(at_, column(keys_), static_cast<comparison>(9), join_kind::semi),
      invalid_argument);
}

TEST_F(join_arguments, right_and_full_joins_over_an_index_are_of_equal_keys) {
  const column keys(keys_);
  for (const join_kind kind : {join_kind::right, join_kind::full}) {
    const std::vector<std::function<void()>> calls{
        [&] { one_->match(at_, ranges(keys, keys), kind); },
        [&] { one_->match_band(at_, keys, 1, kind); },
        [&] { one_->match_compared(at_, keys, comparison::less, kind); }};
    for (const auto& call : calls)
      expect_error<unsupported>(call, {std::string(to_string(kind)), "equal keys", "range_join",
                                       "inner, left, semi or anti"});
    EXPECT_EQ(one_->match(at_, points(keys), kind)->size(), 3U);
  }
}

TEST_F(join_arguments, formats_are_those_of_the_build_side) {
  const auto refused = [&](const join& tested, const key_parts& probe,
                           const std::vector<std::string>& words) {
    expect_error<invalid_argument>([&] { tested.match(at_, probe, join_kind::inner); }, words);
  };
  refused(*one_, {column(signed_)}, {"probe", "int32", "uint32"});
  refused(*one_, {strings_}, {"probe", "strings", "uint32"});
  refused(*two_, {column(keys_), column(keys_)}, {"probe", "column 2", "uint32", "strings"});
  refused(*two_, {strings_, column(keys_)}, {"probe", "column 1"});
  refused(*two_, {column(keys_)}, {"1 columns", "2"});
  refused(*one_, {column(keys_), column(keys_)}, {"2 columns", "1"});
  const column others(signed_);
  EXPECT_THROW(one_->match(at_, points(others), join_kind::inner), invalid_argument);
  EXPECT_THROW(one_->match(at_, ranges(column(keys_), others), join_kind::inner), invalid_argument);
  EXPECT_THROW(one_->match_band(at_, others, 1, join_kind::inner), invalid_argument);
  EXPECT_THROW(one_->match_compared(at_, others, comparison::less, join_kind::inner),
               invalid_argument);
}

TEST_F(join_arguments, keys_have_1_to_16_columns_of_equal_sizes) {
  const auto refused = [&](const key_parts& keys, const std::vector<std::string>& words) {
    expect_error<invalid_argument>([&] { built(keys); }, words);
    EXPECT_THROW(two_->match(at_, keys, join_kind::inner), invalid_argument);
    EXPECT_THROW(join_tables(backend::cpu, at_, keys, keys), invalid_argument);
    EXPECT_THROW(join_tables(backend::cpu, at_, {column(keys_)}, keys), invalid_argument);
  };
  refused({}, {"keys", "0 columns", "1 to 16"});
  refused(key_parts(most_key_parts + 1, column(keys_)), {"keys", "17 columns", "1 to 16"});
  refused({column(keys_), column(few_)}, {"keys", "3", "2"});
  refused({strings_, column(few_)}, {"keys", "3", "2"});
  built(key_parts(most_key_parts, column(keys_)));
  EXPECT_THROW(one_->match(at_, ranges(column(keys_), column(few_)), join_kind::inner),
               invalid_argument);
}

TEST_F(join_arguments, columns_are_somewhere) {
  const auto refused = [&](const key_part& part) {
    EXPECT_THROW(built({part}), invalid_argument);
    EXPECT_THROW(built({column(keys_), part}), invalid_argument);
  };
  refused(column(format_of<std::uint32_t>, nullptr, 3));
  refused(string_column{.bytes = bytes_.data(), .size = 3});
  key_format none;
  none.width = 3;
  refused(column(none, keys_.data(), 3));
  string_column unwritten = strings_;
  unwritten.bytes = nullptr;
  refused(unwritten);
  expect_error<invalid_argument>(
      [&] {
        two_->match(at_, key_parts{column(keys_), unwritten}, {});
      },
      {"probe: 3 strings without bytes"});
  const std::vector<std::uint64_t> nowhere(4);
  built({string_column{.offsets = nowhere.data(), .wide_offsets = true, .size = 3}});  // all empty
  string_column misplaced = strings_;
  misplaced.offsets = bytes_.data() + 1;
  refused(misplaced);
}

TEST_F(join_arguments, names_of_structures_are_known) {
  const key_parts keys{column(keys_)};
  expect_error<invalid_argument>(
      [&] { build_join(backend::cpu, at_, keys, {.structure = "no_such"}); }, {"no_such"});
  EXPECT_THROW(build_join(backend::cpu, at_, keys, {.options = {{"no_such", "1"}}}),
               invalid_argument);
  EXPECT_THROW(build_join(backend::cpu, at_, {strings_}, {.structure = "direct"}), unsupported);
}

TEST_F(join_arguments, outputs_are_as_large_as_what_is_asked_for) {
  const auto found = matched(join_kind::inner);
  ASSERT_EQ(found->size(), 3);
  rows64 counts(2);
  expect_error<invalid_argument>([&] { found->counts(at_, counts); }, {"2", "3"});
  rows32 probe_rows(4);
  rows32 build_rows(4);
  expect_error<invalid_argument>([&] { found->rows(at_, gather_maps(probe_rows, build_rows)); },
                                 {"4", "3"});
  EXPECT_THROW(found->rows(at_, 0, gather_maps(probe_rows, build_rows)), invalid_argument);
  probe_rows.resize(2);
  build_rows.resize(2);
  EXPECT_THROW(found->rows(at_, gather_maps(probe_rows, build_rows)), invalid_argument);
  const gather_maps two(probe_rows, build_rows);
  found->rows(at_, 1, two);
  EXPECT_EQ(probe_rows, (rows32{1, 2}));
  for (const std::uint64_t first :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4},
        std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 1}) {
    expect_error<invalid_argument>([&] { found->rows(at_, first, two); },
                                   {std::to_string(first), "3"});
  }
  rows32 nothing;
  found->rows(at_, 3, gather_maps(nothing, nothing));
  EXPECT_THROW(found->rows(at_, 4, gather_maps(nothing, nothing)), invalid_argument);
}

TEST_F(join_arguments, outputs_are_somewhere) {
  alignas(8) std::array<std::byte, 64> room{};
  const auto type = row_id_type::uint32;
  for (const join_kind kind : all_join_kinds) {
    const auto found = matched(kind);
    const std::uint64_t size = found->size();
    EXPECT_THROW(found->counts(at_, std::span(static_cast<std::uint64_t*>(nullptr), 3)),
                 invalid_argument);
    if (size == 0) continue;
    EXPECT_THROW(found->rows(at_, gather_maps(type, nullptr, room.data(), size)), invalid_argument);
    EXPECT_THROW(found->rows(at_, gather_maps(type, room.data() + 1, room.data() + 32, size)),
                 invalid_argument);
    const gather_maps probes_only(type, room.data(), nullptr, size);
    if (kind == join_kind::semi) {
      found->rows(at_, probes_only);
    } else {
      EXPECT_THROW(found->rows(at_, probes_only), invalid_argument);
      EXPECT_THROW(found->rows(at_, gather_maps(type, room.data(), room.data() + 33, size)),
                   invalid_argument);
    }
  }
}

TEST_F(join_arguments, maps_are_made_of_what_holds_numbers) {
  const auto found = matched(join_kind::left);
  rows64 probe_rows(3);
  rows64 build_rows(3);
  found->rows(at_, gather_maps(probe_rows, build_rows));
  EXPECT_EQ(probe_rows, (rows64{0, 1, 2}));
  EXPECT_EQ(build_rows, (rows64{0, 1, 2}));
  rows64 few(2);
  expect_error<invalid_argument>([&] { gather_maps(probe_rows, few); },
                                 {"build rows: room for 2, but for 3 probe rows"});
  const auto once = matched(join_kind::semi);
  rows32 narrow(3);
  once->rows(at_, gather_maps(narrow));
  EXPECT_EQ(narrow, (rows32{0, 1, 2}));
}

TEST_F(join_arguments, another_number_for_no_row_is_one_of_the_type) {
  rows32 narrow(3);
  expect_error<invalid_argument>(
      [&] { replace_not_found(backend::cpu, at_, narrow, std::uint64_t{1} << 32); },
      {"number: 4294967296 has more bits than the rows, uint32"});
  EXPECT_THROW(replace_not_found(backend::cpu, at_, {row_id_type::uint64, nullptr, 3}, 0),
               invalid_argument);
}

// Says that it is on a device.
class memory_elsewhere final : public memory_resource {
 public:
  void* allocate(std::size_t bytes, stream_t /*stream*/) override { throw out_of_memory(bytes, 0); }
  void deallocate(void* /*memory*/, std::size_t /*bytes*/, stream_t /*stream*/) noexcept override {}
  memory_space space() const noexcept override { return memory_space::device; }
};

TEST_F(join_arguments, an_edited_index_needs_another_join) {
  const auto edited = build("cgrx", backend::cpu, at_, column(keys_));
  const auto over = build_join(at_, *edited);
  EXPECT_EQ(over->match(at_, key_parts{column(keys_)}, join_kind::inner)->size(), 3U);
  const std::vector<std::uint32_t> gone{1};
  edited->edit(nullptr, {.erase = column(gone)});
  expect_error<invalid_argument>(
      [&] { over->match(at_, key_parts{column(keys_)}, join_kind::inner); },
      {"its index was edited after it was built"});
  EXPECT_EQ(
      build_join(at_, *edited)->match(at_, key_parts{column(keys_)}, join_kind::inner)->size(), 2U);
}

// What was found may lie in the index: a table that is made anew frees its lists of rows.
TEST_F(join_arguments, what_was_found_is_not_read_from_an_edited_index) {
  const std::vector<std::uint32_t> twice{3, 1, 3};
  for (const char* name : {"hash_open", "hash_bucket", "pivot_tree", "btree"}) {
    const auto edited = build(name, backend::cpu, at_, column(twice));
    const auto over = build_join(at_, *edited);
    const auto found = over->match(at_, key_parts{column(keys_)}, join_kind::inner);
    ASSERT_EQ(found->size(), 3U);
    rows32 probe_rows(3);
    rows32 build_rows(3);
    rows64 counts(3);
    found->rows(at_, gather_maps(probe_rows, build_rows));
    EXPECT_EQ(build_rows, (rows32{0, 2, 1}));
    edited->edit(nullptr, {.erase = column(few_)});
    expect_error<invalid_argument>([&] { found->rows(at_, gather_maps(probe_rows, build_rows)); },
                                   {"its index was edited after it was built"});
    EXPECT_THROW(found->counts(at_, counts), invalid_argument);
  }
}

TEST_F(join_arguments, memory_is_that_of_the_backend) {
  memory_elsewhere memory;
  const context there{memory};
  const column keys(keys_);
  const auto over = build("auto", backend::cpu, at_, keys);
  const auto found = matched(join_kind::semi);
  const auto intervals = build_interval_join(backend::cpu, at_, keys, keys);
  const auto closest = build_asof_join(backend::cpu, at_, keys);
  rows64 counts(3);
  rows32 rows(3);
  const std::vector<std::function<void()>> calls{
      [&] { build_join(backend::cpu, there, {keys}); },
      [&] { build_join(there, *over); },
      [&] { one_->match(there, key_parts{keys}, join_kind::inner); },
      [&] { one_->match(there, points(keys), join_kind::inner); },
      [&] { one_->match_band(there, keys, 1, join_kind::inner); },
      [&] { one_->match_compared(there, keys, comparison::less, join_kind::inner); },
      [&] { found->counts(there, counts); },
      [&] { found->rows(there, gather_maps(rows)); },
      [&] { join_tables(backend::cpu, there, {keys}, {keys}); },
      [&] { build_interval_join(backend::cpu, there, keys, keys); },
      [&] { intervals->match(there, keys, join_kind::inner); },
      [&] { build_asof_join(backend::cpu, there, keys); },
      [&] { closest->match(there, keys, {}, {}, rows); }};
  for (const auto& call : calls)
    expect_error<invalid_argument>(call, {"context", "host"});
}

TEST_F(join_arguments, of_closest_times) {
  const column times(keys_);
  const auto tested = build_asof_join(backend::cpu, at_, times, {strings_});
  rows32 rows(3);
  const key_parts by{strings_};
  tested->match(at_, times, by, {}, rows);
  EXPECT_EQ(rows, (rows32{0, 1, 2}));
  rows64 wide(3);
  tested->match(at_, times, by, {}, wide);
  EXPECT_EQ(wide, (rows64{0, 1, 2}));
  const auto refused = [&](const std::function<void()>& call,
                           const std::vector<std::string>& words) {
    expect_error<invalid_argument>(call, words);
  };
  refused([&] { tested->match(at_, column(signed_), by, {}, rows); }, {"times", "int32", "uint32"});
  refused([&] { tested->match(at_, times, {}, {}, rows); }, {"by", "0 columns"});
  refused([&] { tested->match(at_, times, {strings_, strings_}, {}, rows); }, {"by", "2 columns"});
  refused([&] { tested->match(at_, times, {column(keys_)}, {}, rows); }, {"by", "strings"});
  refused([&] { tested->match(at_, column(few_), by, {}, rows); }, {"by", "3 rows", "have 2"});
  rows32 few(2);
  refused([&] { tested->match(at_, times, by, {}, few); }, {"out", "2", "3"});
  refused([&] { tested->match(at_, times, by, {}, row_id_span(row_id_type::uint32, nullptr, 3)); },
          {"out", "null pointer"});
  for (const double tolerance : {-1.0, 0.5, std::numeric_limits<double>::quiet_NaN()})
    refused([&] { tested->match(at_, times, by, {.tolerance = tolerance}, rows); }, {"tolerance"});
  refused([&] { tested->match(at_, times, by, {.relative_tolerance = -1e-9}, rows); },
          {"relative_tolerance", "0 or more"});
  refused([&] { tested->match(at_, times, by, {.tolerance = 1, .relative_tolerance = 1}, rows); },
          {"tolerance", "several"});
  refused([&] { tested->match(at_, times, by, {.tolerances = column(few_)}, rows); },
          {"tolerances", "2 of them", "3"});
  refused([&] { tested->match(at_, times, by, {.tolerances = column(doubles_)}, rows); },
          {"tolerances", "double", "uint32"});
  refused([&] { tested->match(at_, times, by, {.neighbours = 0}, rows); }, {"neighbours", "1 or"});
  refused([&] { tested->match(at_, times, by, {.neighbours = 2}, rows); },
          {"room for 3", "3 times with 2 neighbours each"});
  EXPECT_THROW(tested->match(at_, times, by, {}, join_kind::full), unsupported);
  constexpr std::uint64_t many = std::uint64_t{1} << 32;
  expect_error<unsupported>(
      [&] { tested->match(at_, times, by, {.neighbours = many}, join_kind::inner); },
      {"too many", "some at a time"});
  refused([&] { tested->append(nullptr, column(signed_), by); }, {"times", "int32", "uint32"});
  refused([&] { tested->append(nullptr, column(few_), by); }, {"by", "3 rows", "have 2"});
  refused([&] { tested->append(nullptr, times); }, {"by", "0 columns"});
  const auto of_doubles = build_asof_join(backend::cpu, at_, column(doubles_));
  of_doubles->match(at_, column(doubles_), {}, {.tolerance = 0.5}, rows);
  refused([&] { of_doubles->match(at_, column(doubles_), {}, {.tolerance = -0.5}, rows); },
          {"tolerance", "-0.5"});
  refused([&] { build_asof_join(backend::cpu, at_, column(few_), by); }, {"by", "times"});
  const std::vector<std::array<char, 4>> texts(3);
  refused([&] { build_asof_join(backend::cpu, at_, column(texts)); }, {"times", "bytes4"});
}

// Refuses one allocation, after so many others.
class refusing_resource final : public memory_resource {
 public:
  refusing_resource(memory_resource& upstream, std::size_t successes)
      : upstream_(upstream), successes_(successes) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    if (calls_++ == successes_) throw out_of_memory(bytes, 0);
    void* const memory = upstream_.allocate(bytes, stream);
    held_ += bytes;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, bytes, stream);
    held_ -= bytes;
  }
  memory_space space() const noexcept override { return upstream_.space(); }
  bool has_refused() const { return calls_ > successes_; }
  std::size_t held() const { return held_; }

 private:
  memory_resource& upstream_;
  std::size_t successes_;
  std::size_t calls_ = 0;
  std::size_t held_ = 0;
};

// Refuses each allocation of `call(context)` in turn, and calls `failed()` after that.
template <class Call, class Failed>
void refuse_in_turn(const context& plain, const Call& call, const Failed& failed) {
  for (std::size_t successes = 0; successes < 500; ++successes) {
    SCOPED_TRACE("after " + std::to_string(successes) + " allocations");
    refusing_resource memory(plain.memory, successes);
    bool done = false;
    try {
      call(context{memory, plain.stream});
      done = true;
    } catch (const out_of_memory&) {
    }
    ASSERT_EQ(memory.held(), 0);
    ASSERT_EQ(done, !memory.has_refused());
    if (done) return;
    failed();
    if (testing::Test::HasFatalFailure()) return;
  }
  FAIL() << "it does not end";
}

// A structure, and what the keys are.
class scarce_memory : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static table shape() {
    if (std::get<1>(GetParam()) == "strings")
      return {cells_of<std::string>{}, cells_of<std::int32_t>{}};
    if (std::get<1>(GetParam()) == "packed") return {cells_of<std::int32_t>{}, cells_of<float>{}};
    return {cells_of<std::uint64_t>{}};
  }
  table make(std::size_t size) {
    return make_table(shape(), size,
                      std::get<1>(GetParam()) == "different" ? std::uint64_t{1} << 30 : 100, true,
                      random_);
  }
  std::unique_ptr<join> build_on(const context& on) const {
    return build_join(backend::cpu, on, build_there_.parts, {.structure = std::get<0>(GetParam())});
  }

  std::mt19937_64 random_ = generator();
  const session at_{backend::cpu};
  const table build_ = make(1500);
  const table probe_ = make(1100);
  const placed_table build_there_{at_, build_};
  const placed_table probe_there_{at_, probe_};
};

INSTANTIATE_TEST_SUITE_P(
    joins, scarce_memory,
    testing::Combine(testing::Values("auto", "sorted_array", "hash_open", "rx"),
                     testing::Values("different", "repeated", "packed", "strings")),
    [](const auto& tested) { return std::get<0>(tested.param) + "_" + std::get<1>(tested.param); });

TEST_P(scarce_memory, leaves_nothing_of_a_build) {
  const context plain = at_;
  tracking_resource meter(plain.memory);
  {
    const auto tested = build_on({meter, plain.stream});
    EXPECT_EQ(tested->info().resident_bytes, meter.current());
  }
  EXPECT_EQ(meter.current(), 0);
  refuse_in_turn(
      at_, [&](const context& on) { build_on(on); }, [] {});
}

TEST_P(scarce_memory, leaves_a_join_as_it_was) {
  const auto tested = build_on(at_);
  const found_rows found = find_equal(build_, probe_, /*missing_equal=*/false);
  for (const join_kind kind : {join_kind::inner, join_kind::full}) {
    refuse_in_turn(
        at_, [&](const context& on) { tested->match(on, probe_there_.parts, kind); },
        [&] {
          check_joined(at_, *tested->match(at_, probe_there_.parts, kind), kind, found,
                       asked_rows::both, rows_in(build_));
        });
  }
}

// Rows are written without memory, and what a batch holds is what the header says.
TEST_P(scarce_memory, holds_little_for_a_batch) {
  const auto tested = build_on(at_);
  const context plain = at_;
  tracking_resource meter(plain.memory);
  const std::uint64_t probes = rows_in(probe_);
  const auto held = [](std::uint64_t each, std::uint64_t rows) {
    return each * rows + 8 * ((rows + 1023) / 1024);
  };
  for (const join_kind kind : all_join_kinds) {
    const auto found = tested->match({meter, plain.stream}, probe_there_.parts, kind);
    const bool unmatched = kind == join_kind::right || kind == join_kind::full;
    EXPECT_LE(meter.current(), held(tested->info().keys_differ ? 4 : 8, probes) +
                                   (unmatched ? held(4, rows_in(build_)) : 0));
    refusing_resource nothing(plain.memory, 0);
    rows64 probe_rows(found->size());
    rows64 build_rows(found->size());
    found->rows({nothing, plain.stream}, gather_maps(probe_rows, build_rows));
    EXPECT_FALSE(nothing.has_refused());
  }
}

// Calls that turn probes into others, and the joins of other kinds.
TEST(scarce_memory_of_other_joins, leaves_nothing) {
  const session at(backend::cpu);
  const std::vector<std::int64_t> times{5, 3, 9, 3, 7, 1};
  const column keys(times);
  const auto over = build("auto", backend::cpu, at, keys);
  const auto by_range = build_join(at, *over);
  const auto intervals = build_interval_join(backend::cpu, at, keys, keys);
  const auto packed = build_asof_join(backend::cpu, at, keys);
  const auto ranked = build_asof_join(backend::cpu, at, keys, {keys});
  rows32 rows(times.size());
  const std::vector<std::function<void(const context&)>> calls{
      [&](const context& on) { build_join(on, *over); },
      [&](const context& on) { by_range->match_band(on, keys, 1, join_kind::left); },
      [&](const context& on) {
        by_range->match_compared(on, keys, comparison::less, join_kind::inner);
      },
      [&](const context& on) { join_tables(backend::cpu, on, {keys}, {keys}); },
      [&](const context& on) { build_interval_join(backend::cpu, on, keys, keys); },
      [&](const context& on) { intervals->match(on, keys, join_kind::inner); },
      [&](const context& on) { build_asof_join(backend::cpu, on, keys, {keys}); },
      [&](const context& on) {
        packed->match(on, keys, {}, {.direction = asof_direction::nearest}, rows);
      },
      [&](const context& on) { packed->match(on, keys, {}, {.neighbours = 2}, join_kind::inner); },
      [&](const context& on) {
        build_asof_join(backend::cpu, on, keys, {keys})->append(nullptr, keys, {keys});
      },
      [&](const context& on) {
        ranked->match(on, keys, {keys}, {.direction = asof_direction::nearest}, rows);
      }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    refuse_in_turn(at, calls[i], [] {});
  }
  ranked->match(at, keys, {keys}, {.direction = asof_direction::nearest}, rows);
  EXPECT_EQ(rows, (rows32{0, 3, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace raydex::test
