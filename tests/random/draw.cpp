// SPDX-License-Identifier: Apache-2.0
#include "tests/random/draw.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "tests/random/bits.hpp"
#include "tests/random/options.hpp"
#include "tests/random/trial.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

namespace {

// How the keys of a case are spread.
enum class spread { equal, few, dense, uniform, clumped, extremes };
enum class sequence { as_drawn, ascending, descending };

class drawer {
 public:
  drawer(std::uint64_t seed, const subject& tested, std::string_view only)
      : random_(seed), tested_(tested) {
    made_.seed = seed;
    const std::vector<std::string> all = structures_of(tested.where);
    made_.structure = all[draw(all.size())];
    if (!only.empty()) made_.structure = only;
    made_.minima = made_.structure.starts_with("rmq");
    const auto& known = drawn_structures();
    const auto options = std::find_if(known.begin(), known.end(),
                                      [&](const auto& one) { return one.name == made_.structure; });
    if (options != known.end()) made_.options = draw_options(*options, tested.where, random_);
  }

  test_case make() {
    made_.minima ? draw_minima() : draw_keys();
    if (tested_.emulated && one_in(2)) made_.schedule = random_();
    return std::move(made_);
  }

 private:
  std::uint64_t draw(std::uint64_t bound) { return below(random_, bound); }
  bool one_in(std::uint64_t times) { return draw(times) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[draw(all.size())];
  }

  // ---- what both kinds share

  // Mostly small, often around powers of two, rarely large. An emulation takes long.
  std::size_t draw_size(bool large_ones = true) {
    const std::uint64_t kind = draw(100);
    if (kind < 6) return draw(3);
    if (kind < 55) return 3 + draw(40);
    if (kind < 75) return (std::size_t{16} << draw(tested_.emulated ? 4 : 7)) + draw(3) - 1;
    if (tested_.emulated) return draw(kind < 99 ? 300 : 3000);
    if (kind < 99 || !large_ones || !one_in(4)) return draw(kind < 93 ? 300 : 5000);
    return draw(120'000);
  }

  // As many keys as one range may have to share among threads, and more.
  std::size_t draw_long_size() {
    const std::size_t size = std::size_t{1024} << draw(tested_.emulated ? 5 : 7);
    return size + draw(3) - 1 + (one_in(2) ? 0 : draw(300));
  }

  placing draw_placing(bool strided = true) {
    placing lie;
    if (one_in(4)) lie.skew = static_cast<unsigned>(draw(4));
    if (strided && one_in(4)) lie.stride = static_cast<unsigned>(2 + draw(3));
    return lie;
  }

  fault draw_fault() {
    fault made;
    if (!one_in(8)) return made;
    // The runtime of a real GPU shares the heap, and is not asked.
    made.of = fault::source::resource;
    if (tested_.emulated || tested_.where == backend::cpu)
      made.of =
          one_of(std::vector{fault::source::resource, fault::source::call, fault::source::calls});
    made.at = static_cast<unsigned>(1 + draw(std::uint64_t{1} << draw(8)));
    return made;
  }

  unsigned draw_threads(const fault& fails) {
    if (fails.of != fault::source::none || tested_.emulated || !one_in(12)) return 1;
    return static_cast<unsigned>(2 + draw(place::most_threads - 1));
  }

  std::vector<answer> draw_answers(std::vector<answer> all) {
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(1 + draw(all.size()));
    return all;
  }

  // ---- keys

  void draw_spread(std::size_t size) {
    spread_ = static_cast<spread>(draw(6));
    few_ = 1 + draw(1 + size / 5);
    missing_ = one_in(3) ? 2 + draw(9) : 0;
    if (uneven_ && one_in(2)) heavy_ = 2 + draw(20);
    limit_ = largest_place(made_.structure, made_.options);
    if (made_.structure == "direct") limit_ = 1 + 3 * size;
    if (limit_ && one_in(10)) limit_.reset();  // the scene may have no place then
    for (std::uint64_t& base : bases_)
      base = random_bits();
  }

  std::uint64_t random_bits() { return random_() & mask_of(made_.key); }

  // Bits of a key with a place in the scene.
  std::uint64_t placed(std::uint64_t bits) {
    if (!limit_ || *limit_ >= mask_of(made_.key)) return bits;
    return bits_of_rank(made_.key, bits & *limit_);
  }

  std::uint64_t draw_key(std::size_t size) {
    const key_format format = made_.key;
    if (heavy_ != 0 && !one_in(heavy_)) return placed(bases_[0]);
    if (spread_ == spread::extremes || (spread_ != spread::equal && one_in(30)))
      return placed(one_of(extremes_of(format)));
    switch (spread_) {
      case spread::equal:
        return placed(bases_[0]);
      case spread::few:
        return placed(bits_of(format, draw(few_)));
      case spread::dense:
        return placed(bits_of(format, 2 * draw(size + 1)));
      case spread::clumped:
        return placed((bases_[draw(bases_.size())] + draw(20)) & mask_of(format));
      default:
        return placed(random_bits());
    }
  }

  bool is_missing() { return missing_ != 0 && one_in(missing_); }

  std::vector<cell> draw_column(std::size_t size) {
    std::vector<cell> column(size);
    for (cell& one : column) {
      one = {draw_key(size), draw_row(size), is_missing()};
      pool_.push_back(one);
    }
    const auto order = static_cast<sequence>(one_in(2) ? 0 : draw(3));
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
    if (updates && !is_by_rows(made_.options)) all.insert(all.end(), {action::edit, action::edit});
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

  // Hits, near misses, and others.
  cell draw_end(std::size_t size) {
    cell end;
    end.missing = is_missing();
    const std::uint64_t kind = draw(10);
    if (kind == 0) {
      end.bits = one_of(extremes_of(made_.key));
    } else if (kind == 1) {
      end.bits = random_bits();
    } else if (kind < 4 || pool_.empty()) {
      end.bits = draw_key(size);
    } else {
      end.bits = one_of(pool_).bits;
      if (kind < 7) end.bits = near(end.bits);
    }
    return end;
  }

  std::uint64_t near(std::uint64_t bits) {
    const bool up = one_in(2);
    for (std::uint64_t steps = draw(4); steps > 0; --steps)
      bits = neighbour_of(made_.key, bits, up);
    return bits;
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

  std::mt19937_64 random_;
  subject tested_;
  test_case made_;

  spread spread_ = spread::uniform;
  std::uint64_t few_ = 1;
  std::uint64_t missing_ = 0;  // one in so many is missing; 0: none
  std::optional<std::uint64_t> limit_;
  std::array<std::uint64_t, 3> bases_{};
  bool uneven_ = false;      // few ranges match most of what a batch matches
  std::uint64_t heavy_ = 0;  // all keys but one in so many are equal; 0: as spread
  bool large_rows_ = false;
  bool repeated_rows_ = false;
  std::vector<cell> pool_;  // all keys so far
};

}  // namespace

std::vector<std::string> structures_of(backend where) {
  std::vector<std::string> names;
  for (const capability& one : capabilities())
    if (one.where == where) names.push_back(one.structure);
  for (const rmq_capability& one : rmq_capabilities())
    if (one.where == where) names.push_back(one.structure);
  return names;
}

test_case draw_case(std::uint64_t seed, const subject& tested, std::string_view only) {
  return drawer(seed, tested, only).make();
}

}  // namespace raydex::test
