// SPDX-License-Identifier: Apache-2.0
// What cases of all kinds are drawn with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/random/bits.hpp"
#include "tests/random/case.hpp"
#include "tests/random/draw.hpp"
#include "tests/random/options.hpp"
#include "tests/random/trial.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

// How the keys of a case are spread.
enum class spread { equal, few, dense, uniform, clumped, extremes };

class drawer {
 public:
  // Draws the structure, or the join.
  drawer(std::uint64_t seed, const subject& tested, std::string_view only)
      : random_(seed), tested_(tested) {
    made_.seed = seed;
    const std::vector<std::string> all = structures_of(tested.where);
    made_.structure = all[draw(all.size())];
    if (!only.empty()) made_.structure = only;
    made_.minima = made_.structure.starts_with("rmq");
    if (std::ranges::find(drawn_joins(), made_.structure) != drawn_joins().end())
      made_.joins.emplace();
    const auto& known = drawn_structures();
    const auto options = std::find_if(known.begin(), known.end(),
                                      [&](const auto& one) { return one.name == made_.structure; });
    if (options != known.end()) made_.options = draw_options(*options, tested.where, random_);
  }

  bool is_join() const { return made_.joins.has_value(); }

 protected:
  std::uint64_t draw(std::uint64_t bound) { return below(random_, bound); }
  bool one_in(std::uint64_t times) { return draw(times) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[draw(all.size())];
  }

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

  test_case finish() {
    if (tested_.emulated && one_in(2)) made_.schedule = random_();
    return std::move(made_);
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
  std::vector<cell> pool_;   // all keys so far
};

// What follows for a join.
test_case draw_join(drawer begun);

}  // namespace raydex::test
