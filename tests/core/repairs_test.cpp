// SPDX-License-Identifier: Apache-2.0
// What tracers that miss cost: the answers are still right, each lookup that a search had to answer
// is counted, and none is counted where rays are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "raydex/core/rays/cgrx.hpp"
#include "raydex/core/rays/rx.hpp"
#include "tests/core/meeting.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

// A tracer that meets primitives exactly, one by one, but loses one ray in so many.
template <class Scene>
class tracer {
 public:
  tracer(const Scene& scene, std::uint64_t primitives, std::uint64_t lost_of)
      : scene_(scene), primitives_(primitives), lost_of_(lost_of) {}

  bool closest(unsigned part, const axis_ray& ray, std::uint32_t& primitive,
               bool& from_behind) const {
    constexpr long double nowhere = std::numeric_limits<long double>::infinity();
    long double nearest = nowhere;
    primitive = 0;
    visit(part, ray, [&](std::uint32_t i, long double along, bool behind) {
      if (!(along < nearest)) return;
      nearest = along;
      primitive = i;
      from_behind = behind;
    });
    return nearest < nowhere;
  }
  bool closest(unsigned part, const axis_ray& ray, std::uint32_t& primitive) const {
    bool from_behind = false;
    return closest(part, ray, primitive, from_behind);
  }
  void visit(unsigned part, const axis_ray& ray, std::uint32_t part_begin,
             met_primitives<std::uint32_t>& met) const {
    visit(part, ray, [&](std::uint32_t i, long double, bool) { met.add(part_begin + i); });
  }

  std::uint64_t rays() const { return rays_; }
  std::uint64_t lost() const { return lost_; }

 private:
  template <class Tell>
  void visit(unsigned part, const axis_ray& ray, const Tell& tell) const {
    ++rays_;
    if (lost_of_ != 0 && rays_ % lost_of_ == 0) {
      ++lost_;
      return;
    }
    for (std::uint32_t i = 0; i < primitives_; ++i) {
      test::corners triangle;
      scene_.triangle(part, i, triangle);
      const test::meeting at = test::meet(ray, triangle);
      if (at.area != 0 && at.inside && at.along >= ray.begin && at.along <= ray.end)
        tell(i, at.along, at.area > 0);
    }
  }

  const Scene& scene_;
  std::uint64_t primitives_;
  std::uint64_t lost_of_;
  mutable std::uint64_t rays_ = 0;
  mutable std::uint64_t lost_ = 0;
};

class repairs : public testing::Test {
 protected:
  std::vector<std::uint64_t> random_keys(std::size_t size, std::uint64_t bits) {
    std::vector<std::uint64_t> keys(size);
    for (std::uint64_t& key : keys)
      key = random_() & bits;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }
  // A key or something beside one.
  std::uint64_t pick(const std::vector<std::uint64_t>& keys) {
    return keys[random_() % keys.size()] + random_() % 3 - 1;
  }

  // Looks up `wanted`, and returns whether there were matches.
  template <class Scene, class Tracer>
  static bool expect_right(const Scene& scene, const Tracer& by,
                           const std::vector<std::uint64_t>& keys, interval<std::uint64_t> wanted,
                           bool is_point) {
    const auto first = std::lower_bound(keys.begin(), keys.end(), wanted.lower);
    const auto last = std::upper_bound(first, keys.end(), wanted.upper);
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    scene.settle(scene.trace(by, wanted, is_point), wanted, is_point, false, begin, end);
    EXPECT_EQ(end - begin, last - first) << wanted.lower << " to " << wanted.upper;
    if (first == last) return false;
    EXPECT_EQ(begin, first - keys.begin());
    return true;
  }

  std::uint64_t counted_ = 0;
  std::mt19937_64 random_ = test::generator();
};

class rx_repairs : public repairs {
 protected:
  using scene = rx_scene<std::uint64_t, std::uint32_t>;

  scene scene_of(const std::vector<std::uint64_t>& keys, ray_hits hits) {
    scene made;
    made.grid = {.x_bits = 23, .y_bits = 23, .z_bits = 18};
    made.hits = hits;
    made.trusts_misses = false;
    made.repairs = &counted_;
    made.keys = keys.data();
    made.entries = made.primitives = static_cast<std::uint32_t>(keys.size());
    made.part_begins = &no_parts_;
    made.part_keys = keys.data();
    return made;
  }

  const std::uint32_t no_parts_ = 0;
};

TEST_F(rx_repairs, are_the_lookups_whose_rays_were_lost) {
  // In some rows, so that ranges take several rays.
  const auto keys = random_keys(150, 0x7'3fff'ffff);
  for (const ray_hits hits : {ray_hits::closest, ray_hits::any}) {
    const scene in = scene_of(keys, hits);
    for (const std::uint64_t lost_of : {0U, 1U, 7U}) {
      SCOPED_TRACE(lost_of);
      const tracer<scene> by(in, keys.size(), lost_of);
      counted_ = 0;
      std::uint64_t found = 0;
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t lower = pick(keys);
        const bool is_point = i % 2 == 0;
        const std::uint64_t upper = is_point ? lower : lower + random_() % (1 << 24);
        const std::uint64_t before = counted_;
        const bool is_any = expect_right(in, by, keys, {lower, upper}, is_point);
        ASSERT_LE(counted_ - before, is_any ? 1 : 0);
        // Rays are sent between the ends of the keys alone.
        const std::uint64_t from = in.grid.segment(std::max(lower, keys.front()));
        const bool many = in.grid.segment(std::min(upper, keys.back())) - from >= scene::most_rays;
        if (is_any && !many) ++found;
      }
      if (lost_of == 0) {
        EXPECT_EQ(counted_, 0);
      } else if (lost_of == 1) {
        EXPECT_EQ(counted_, found);
      } else {
        // Some lookups were for keys beside those in the column.
        EXPECT_GT(counted_, 0);
        EXPECT_LE(counted_, by.lost());
      }
    }
  }
}

TEST_F(rx_repairs, are_not_ranges_of_too_many_rays) {
  const auto keys = random_keys(150, 0xffff'ffff);
  constexpr std::uint64_t segment = std::uint64_t{1} << key_grid::segment_bits;
  const std::uint64_t lower = keys.front();
  for (const ray_hits hits : {ray_hits::closest, ray_hits::any}) {
    const scene in = scene_of(keys, hits);
    for (const std::uint64_t segments : {scene::most_rays - 1, scene::most_rays}) {
      const tracer<scene> by(in, keys.size(), 1);
      counted_ = 0;
      expect_right(in, by, keys, {lower, lower + segments * segment}, false);
      const bool too_many = segments == scene::most_rays;
      EXPECT_EQ(counted_, too_many ? 0 : 1);
      // Where all hits are needed, the number of rays is known beforehand.
      const bool none = too_many && hits == ray_hits::any;
      EXPECT_EQ(by.rays(), none ? 0 : scene::most_rays);
    }
  }
}

class cgrx_repairs : public repairs {
 protected:
  using scene = cgrx_scene<std::uint64_t, std::uint32_t>;

  scene scene_of(const std::vector<std::uint64_t>& keys, bucket_scene kind, key_grid grid) {
    scene made;
    made.grid = grid;
    made.kind = kind;
    made.keys = {keys.data()};
    made.entries = static_cast<std::uint32_t>(keys.size());
    made.bucket_size = 3;
    made.buckets = (made.entries + 2) / 3;
    made.repairs = &counted_;
    made.part_count = 1;
    part_ = {.first_bucket = 0,
             .buckets = made.buckets,
             .first = made.representative(0),
             .last = made.representative(made.buckets - 1),
             .base = kind == bucket_scene::spans ? made.representative(0) : 0,
             .shift = 0,
             .rows = kind != bucket_scene::spans,
             .planes = kind != bucket_scene::spans,
             .first_triangle = 0};
    made.parts = &part_;
    return made;
  }

  cgrx_part<std::uint64_t, std::uint32_t> part_{};
};

TEST_F(cgrx_repairs, are_the_lookups_whose_rays_were_lost) {
  const key_grid planes{.x_bits = 23, .y_bits = 23, .z_bits = 18, .y_step = 32, .z_step = 64};
  const key_grid row{.x_bits = 23, .y_bits = 0, .z_bits = 0};
  for (const auto kind : {bucket_scene::naive, bucket_scene::optimised, bucket_scene::spans}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const bool fits = kind == bucket_scene::spans;
    const auto keys = random_keys(150, fits ? 0x7f'ffff : 0xf00'03ff'ff7f'ffff);
    const scene in = scene_of(keys, kind, fits ? row : planes);
    for (const std::uint64_t lost_of : {0U, 1U, 7U}) {
      SCOPED_TRACE(lost_of);
      const tracer<scene> by(in, scene::slots_of(part_), lost_of);
      counted_ = 0;
      std::uint64_t traced = 0;
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t lower = pick(keys);
        const std::uint64_t upper = i % 2 == 0 ? lower : lower + random_() % (1 << 20);
        const std::uint64_t before = by.rays();
        expect_right(in, by, keys, {lower, upper}, lower == upper);
        if (by.rays() != before) ++traced;
      }
      if (lost_of == 0) {
        EXPECT_EQ(counted_, 0);
      } else if (lost_of == 1) {
        EXPECT_EQ(counted_, traced);
      } else {
        // One lost ray among several may not matter.
        EXPECT_GT(counted_, 0);
        EXPECT_LE(counted_, by.lost());
      }
    }
  }
}

// The last bucket may hold keys far above its representative.
TEST_F(cgrx_repairs, guesses_within_a_bucket_stay_there) {
  std::vector<std::uint64_t> keys{1, 2};
  for (std::uint64_t i = 0; i < 64; ++i)
    keys.push_back(std::numeric_limits<std::uint64_t>::max() - 1000 + i);
  const std::vector<std::uint64_t> representatives{1, 2};
  const std::vector<std::uint32_t> begins{0, 1};
  scene in = scene_of(keys, bucket_scene::spans, {.x_bits = 1, .y_bits = 0, .z_bits = 0});
  in.search = bucket_search::interpolated;
  in.buckets = 2;
  in.representatives = representatives.data();
  in.begins = begins.data();
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    in.settle({i == 0 ? 0U : 1U, 0}, {keys[i], keys[i]}, true, false, begin, end);
    EXPECT_EQ(begin, i);
    EXPECT_EQ(end, i + 1);
  }
  EXPECT_EQ(counted_, 0);
}

}  // namespace
}  // namespace raydex::core
