// SPDX-License-Identifier: Apache-2.0
#include "tests/random/draw.hpp"

#include <algorithm>
#include <utility>

#include "tests/random/drawer.hpp"

namespace raydex::test {

namespace {

enum class sequence { as_drawn, ascending, descending };

class case_drawer : public drawer {
 public:
  explicit case_drawer(drawer begun) : drawer(std::move(begun)) {}

  test_case make() {
    made_.minima ? draw_minima() : draw_keys();
    return finish();
  }

 private:
  std::vector<answer> draw_answers(std::vector<answer> all) {
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + draw(all.size()));
    return all;
  }

  // ---- keys

  std::vector<cell> draw_column(std::size_t size) {
    std::vector<cell> column(size);
    for (cell& one : column) {
      one = {draw_key(size), draw_row(size), is_missing()};
      pool_.push_back(one);
    }
    const auto order = stores_no_rows(made_.options)
                           ? sequence::ascending
                           : static_cast<sequence>(one_in(2) ? 0 : draw(3));
    if (order != sequence::as_drawn) {
      std::sort(column.begin(), column.end(), [&](const cell& a, const cell& b) {
        return is_less(number_of(made_.key, a.bits), number_of(made_.key, b.bits));
      });
    }
    if (order == sequence::descending) std::reverse(column.begin(), column.end());
    return column;
  }

  std::uint64_t draw_row(std::size_t size) {
    const std::uint64_t most =
        made_.rows == row_kind::wide ? ~std::uint64_t{0} - 1 : not_found<std::uint32_t> - 1;
    if (large_rows_) return one_in(2) ? most - draw(10) : random_() % most;
    return draw(repeated_rows_ ? 1 + size / 4 : 2 * size + 1);
  }

  void draw_keys() {
    made_.key = one_of(all_formats());
    if (one_in(2)) made_.key = one_of(number_formats());
    if (made_.structure == "direct" && !is_integer(made_.key))
      made_.key = one_in(2) ? format_of<std::int32_t> : format_of<std::uint64_t>;
    if (largest_place(made_.structure, made_.options) && !one_in(4))
      made_.key = one_in(2) ? format_of<std::uint32_t> : format_of<std::uint64_t>;
    made_.rows = static_cast<row_kind>(draw(3));
    large_rows_ = one_in(8);
    repeated_rows_ = one_in(2);
    made_.masked = one_in(8);
    made_.key_cells = draw_placing();
    made_.row_cells = draw_placing();
    made_.probe_cells = draw_placing();
    made_.value_cells = draw_placing();
    made_.build_fails = draw_fault();
    uneven_ = one_in(12);
    const std::size_t size = uneven_ ? draw_long_size() : draw_size();
    draw_spread(size);
    if (stores_no_rows(made_.options)) {
      made_.rows = row_kind::implicit;
      made_.masked = false;
      missing_ = 0;
    }
    made_.keys = draw_column(size);
    const std::uint64_t steps = uneven_ || size > 20'000 ? 2 : 1 + draw(5);
    for (std::uint64_t i = 0; i < steps; ++i)
      made_.steps.push_back(draw_key_step(size));
  }

  step draw_key_step(std::size_t size) {
    std::vector<action> all{action::ask};
    const auto able = capabilities();
    const bool updates = std::any_of(able.begin(), able.end(), [&](const capability& one) {
      return one.structure == made_.structure && one.where == tested_.where && one.updates;
    });
    if (updates && !is_by_rows(made_.options) && !stores_no_rows(made_.options))
      all.insert(all.end(), {action::edit, action::edit});
    // These are calls of the structures' own classes.
    const bool own = made_.rows != row_kind::wide;
    if (own && made_.structure == "cgrx" && one_in(2)) all.push_back(action::rebuild);
    if (own && made_.structure == "rx") all.push_back(action::update);
    step made;
    made.what = one_of(all);
    made.fails = draw_fault();
    if (made.what == action::ask) {
      draw_key_ranges(made, size);
    } else if (made.what == action::edit) {
      draw_edit(made, size);
    } else if (made.what == action::update) {
      made.put = draw_column(one_in(2) ? size : draw_size(false));
    }
    return made;
  }

  static bool is_integer(key_format format) {
    return format.type != key_type::float32 && format.type != key_type::float64 &&
           format.type != key_type::bytes;
  }

  // A cgrx with nodes does not, and neither does an rx without a sorted column.
  bool knows_ranks() const {
    if (!has_order(made_.structure) || is_by_rows(made_.options)) return false;
    const auto node = made_.options.find("node");
    return node == made_.options.end() || node->second == "off";
  }

  void draw_key_ranges(step& made, std::size_t size) {
    std::vector<answer> all{answer::first, answer::count, answer::sum};
    if (!is_by_rows(made_.options)) all.insert(all.end(), {answer::rows, answer::offsets});
    if (!large_rows_) all.push_back(answer::sum_of_values);
    made.points = !answers_ranges(made_.structure, made_.key, made_.options) || one_in(2);
    if (made.points && knows_ranks()) all.push_back(answer::ranks);
    made.answers = draw_answers(all);
    made.summed = one_of(number_formats()).type;
    made.threads = draw_threads(made.fails);
    // Few long ones among short ones, or alone.
    const std::size_t ranges = uneven_ ? 1 + draw(one_in(3) ? 2 : 60) : draw_size(false);
    const bool sorted = one_in(4);
    for (std::size_t i = 0; i < ranges; ++i) {
      range one{draw_end(size), draw_end(size)};
      // Short ones, empty ones.
      if (one_in(3)) one.upper = one.lower;
      if (one_in(3)) one.upper.bits = near(one.upper.bits);
      if (uneven_ && ranges > 2 && !one_in(8)) one.upper.bits = near(one.lower.bits);
      made.ranges.push_back(one);
    }
    if (sorted) {
      std::sort(made.ranges.begin(), made.ranges.end(), [&](const range& a, const range& b) {
        return is_less(number_of(made_.key, a.lower.bits), number_of(made_.key, b.lower.bits));
      });
    }
  }

  void draw_edit(step& made, std::size_t size) {
    made.erase_pairs = one_in(2);
    const auto how_many = [&] { return one_in(3) ? 0 : draw(1 + (one_in(3) ? 2 * size : 12)); };
    // Deletions of present entries, so that not all deletions cancel insertions.
    const std::vector<cell> there = pool_;
    made.put = draw_column(how_many());
    for (std::uint64_t left = how_many(); left > 0; --left) {
      cell one = {draw_key(size), draw_row(size), is_missing()};
      if (!there.empty() && !one_in(6)) {
        one = one_of(there);
      } else if (!made.put.empty() && one_in(2)) {
        one = one_of(made.put);
      }
      made.erase.push_back(one);
      // Repeated ones.
      while (one_in(4))
        made.erase.push_back(one);
    }
    for (std::size_t i = 0; i < made.put.size() && one_in(2); ++i)
      made.put.push_back(one_of(made.put));
  }

  // ---- minima

  void draw_minima() {
    made_.key = one_of(number_formats());
    made_.position =
        one_of(std::vector<key_format>{format_of<std::uint32_t>, format_of<std::uint64_t>,
                                       format_of<std::int32_t>, format_of<std::int64_t>});
    made_.masked = one_in(8);
    made_.key_cells = draw_placing(false);
    made_.probe_cells = draw_placing();
    made_.build_fails = draw_fault();
    const std::size_t size = draw_size();
    draw_spread(size);
    made_.keys = draw_column(size);
    for (cell& one : made_.keys)
      one = {one.bits};
    const auto able = rmq_capabilities();
    const bool updates = std::any_of(able.begin(), able.end(), [&](const rmq_capability& one) {
      return one.structure == made_.structure && one.where == tested_.where && one.updates;
    });
    for (std::uint64_t steps = 1 + draw(4); steps > 0; --steps) {
      step made;
      made.fails = draw_fault();
      if (updates && one_in(3)) {
        made.what = action::refresh;
        for (std::uint64_t left = draw(one_in(3) ? 2 * size + 2 : 12); left > 0; --left)
          made.put.push_back({draw_key(size), static_cast<std::uint64_t>(draw_position(size))});
      } else {
        draw_position_ranges(made, size);
      }
      made_.steps.push_back(made);
    }
  }

  // Mostly within the array.
  std::int64_t draw_position(std::size_t size) {
    const auto end = static_cast<std::int64_t>(size);
    if (one_in(12)) return static_cast<std::int64_t>(one_of(extremes_of(made_.position)));
    if (one_in(8)) return static_cast<std::int64_t>(draw(12)) - 6;
    if (one_in(8)) return static_cast<std::int64_t>(draw(12)) - 6 + end;
    return static_cast<std::int64_t>(draw(size + 1));
  }

  void draw_position_ranges(step& made, std::size_t size) {
    made.answers = draw_answers({answer::minimum, answer::position, answer::check});
    made.threads = draw_threads(made.fails);
    const bool tidy = one_in(3);  // all within the array
    for (std::size_t left = draw_size(false); left > 0; --left) {
      std::int64_t lower = draw_position(size);
      std::int64_t upper = one_in(2)
                               ? draw_position(size)
                               // May wrap around, to the smallest positions.
                               : static_cast<std::int64_t>(static_cast<std::uint64_t>(lower) +
                                                           draw(std::uint64_t{2} << draw(10)));
      if (tidy && size != 0) {
        lower = static_cast<std::int64_t>(static_cast<std::uint64_t>(lower) % size);
        upper = static_cast<std::int64_t>(static_cast<std::uint64_t>(upper) % size);
        if (upper < lower) std::swap(lower, upper);
      }
      const auto end = [&](std::int64_t at) -> cell {
        return {bits_of(made_.position, static_cast<std::uint64_t>(at)), 0, is_missing()};
      };
      made.ranges.push_back({end(lower), end(upper)});
    }
  }

  bool large_rows_ = false;
  bool repeated_rows_ = false;
};

}  // namespace

std::vector<std::string> structures_of(backend where) {
  std::vector<std::string> names;
  for (const capability& one : capabilities())
    if (one.where == where) names.push_back(one.structure);
  for (const rmq_capability& one : rmq_capabilities())
    if (one.where == where) names.push_back(one.structure);
  names.insert(names.end(), drawn_joins().begin(), drawn_joins().end());
  return names;
}

test_case draw_case(std::uint64_t seed, const subject& tested, std::string_view only) {
  drawer begun(seed, tested, only);
  return begun.is_join() ? draw_join(std::move(begun)) : case_drawer(std::move(begun)).make();
}

}  // namespace raydex::test
