// SPDX-License-Identifier: Apache-2.0
// What is particular to minima by rays: the scene, with any tracer, and where its parts meet.
#include "src/structures/papers/rmq_rx/rmq_rx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

struct one_thread {
  template <class Function>
  static void for_each_alone(const context& /*where*/, const Function& f, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i)
      f(i);
  }
};

enum class sight : std::uint8_t {
  clear,
  blind,  // sees no triangle
  wrong   // sees only those of elements that are not in the range
};

// An engine without rounding that looks at every triangle.
template <sight Sight>
struct plain_engine {
  using executor = one_thread;
  static inline std::uint64_t lookups_by_rays = 0;  // how many cast some

  template <class Scene>
  class tracer {
   public:
    tracer(const context& /*where*/, tracking_resource& /*memory*/, const scene_plan<Scene>& plan) {
      for (std::size_t part = 0; part + 1 < plan.part_begins.size(); ++part) {
        parts_.emplace_back(plan.part_begins[part + 1] - plan.part_begins[part]);
        for (std::size_t i = 0; i < parts_.back().size(); ++i)
          plan.scene.triangle(static_cast<unsigned>(part), i, parts_.back()[i].corners);
      }
    }

    template <class Job>
    void trace(const context& on, const Job& job) const {
      executor::for_each_alone(
          on,
          [&](std::uint64_t i) {
            has_cast_ = false;
            job.run(*this, i);
            lookups_by_rays += has_cast_ ? 1 : 0;
          },
          job.size);
    }

    bool closest(unsigned part, const core::axis_ray& ray, std::uint64_t& primitive) const {
      has_cast_ = true;
      double nearest = ray.end;
      bool hit = false;
      for (std::size_t i = 0; i < parts_[part].size(); ++i) {
        const auto& corners = parts_[part][i].corners;
        const double along = double{corners[0].x} - double{ray.origin.x};
        if (along < ray.begin || along >= nearest || !sees(corners, ray.origin)) continue;
        nearest = along;
        primitive = i;
        hit = true;
      }
      if (Sight != sight::wrong) {
        EXPECT_EQ(hit, Sight == sight::clear);
      }
      return hit;
    }

   private:
    struct triangle {
      core::point3 corners[3];
    };

    static bool sees(const core::point3 (&corners)[3], const core::point3& at) {
      if (Sight == sight::blind) return false;
      return Sight == sight::clear ? is_within(corners, at) : is_outside(corners, at);
    }
    // Whether the element is before the range, or after it, or in another block.
    static bool is_outside(const core::point3 (&corners)[3], const core::point3& at) {
      return corners[0].y < at.y || corners[0].z > at.z;
    }
    // The first corner has the right angle, its legs run down y and up z.
    static bool is_within(const core::point3 (&corners)[3], const core::point3& at) {
      const double y = double{corners[0].y} - double{at.y};
      const double z = double{at.z} - double{corners[0].z};
      const double width = double{corners[0].y} - double{corners[1].y};
      const double height = double{corners[2].z} - double{corners[0].z};
      return y > 0 && z > 0 && y * height + z * width < width * height;
    }

    std::vector<std::vector<triangle>> parts_;
    mutable bool has_cast_ = false;  // for the current lookup
  };
};

template <sight Sight>
void check_scene(std::uint64_t values_up_to, std::size_t size, rmq_ties ties) {
  auto random = test::generator(values_up_to + size);
  std::vector<std::int32_t> values(size);
  for (std::int32_t& value : values)
    value = static_cast<std::int32_t>(random() % values_up_to);
  host_memory_resource memory;
  tracking_resource counted(memory);
  const context on{counted};
  std::uint64_t repairs = 0;
  const minima_by_rays<plain_engine<Sight>> rays(
      on, counted, column(std::span<const std::int32_t>(values)),
      {.ties = ties, .block = 32, .compact = false}, &repairs);
  const test::rmq_oracle<std::int32_t> oracle(values, ties);

  std::vector<std::uint32_t> ends;
  for (std::uint32_t lower = 0; lower < size; ++lower)
    for (std::uint32_t upper = lower; upper < size; upper += 1 + upper / 40)
      ends.insert(ends.end(), {lower, upper});
  const std::uint64_t count = ends.size() / 2;
  column lower(format_of<std::uint32_t>, ends.data(), count);
  lower.stride = 8;
  column upper = lower;
  upper.data = ends.data() + 1;
  std::vector<std::uint64_t> found(count);
  core::rmq_ray_job job;
  job.ranges = source_of(ranges(lower, upper));
  job.array_size = size;
  job.size = count;
  job.out = found.data();
  const std::uint64_t before = plain_engine<Sight>::lookups_by_rays;
  rays.trace(on, job);
  const std::uint64_t by_rays = plain_engine<Sight>::lookups_by_rays - before;
  EXPECT_TRUE(by_rays != 0 || size == 1);
  EXPECT_EQ(repairs, Sight == sight::clear ? 0 : by_rays);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(found[i], oracle.position(ends[2 * i], ends[2 * i + 1]))
        << ends[2 * i] << " to " << ends[2 * i + 1];
}

TEST(rmq_rx_scene, rays_meet_the_minimum_first) {
  for (const rmq_ties ties : {rmq_ties::leftmost, rmq_ties::rightmost}) {
    for (const std::uint64_t values_up_to : {1U, 3U, 1000U}) {
      for (const std::size_t size : {1U, 2U, 31U, 32U, 33U, 70U, 300U})
        check_scene<sight::clear>(values_up_to, size, ties);
    }
  }
}

TEST(rmq_rx_scene, what_rays_miss_is_scanned_and_counted) {
  check_scene<sight::blind>(10, 100, rmq_ties::leftmost);
}

TEST(rmq_rx_scene, what_rays_find_beside_the_range_is_scanned_and_counted) {
  check_scene<sight::wrong>(10, 100, rmq_ties::leftmost);
}

TEST(rmq_rx_arguments, blocks_are_powers_of_two) {
  const session cpu(backend::cpu);
  const std::vector<float> values(10);
  for (const char* block : {"0", "16", "33", "8192"}) {
    test::expect_error<invalid_argument>(
        [&] {
          build_rmq("rmq_rx", backend::cpu, cpu, column(std::span<const float>(values)),
                    {{"block", block}});
        },
        {"option block", block, "from 32 to 4096"});
  }
}

class rmq_rx_parts : public test::backend_test {};

TEST_F(rmq_rx_parts, ranges_across_parts_are_answered) {
  if (test::small_scale()) GTEST_SKIP() << "needs two parts";
  constexpr std::uint64_t part = std::uint64_t{1} << core::rmq_ray_scene::part_bits;
  constexpr std::uint64_t size = part + 5000;
  auto random = test::generator();
  std::vector<std::uint32_t> values(size);
  for (std::uint32_t& value : values)
    value = static_cast<std::uint32_t>(random() % 1'000'000);
  const auto array = at().upload(values);
  const auto built = build_rmq("rmq_rx", test::tested_backend(), at(), column(array));
  EXPECT_GT(built->info().resident_bytes, 48 * size);

  std::vector<std::uint64_t> lower;
  std::vector<std::uint64_t> upper;
  for (int i = 0; i < 2000; ++i) {
    lower.push_back(part - 1 - random() % 5000);
    upper.push_back(part + random() % 5000);
    lower.push_back(random() % (size - 3000));
    upper.push_back(lower.back() + random() % 3000);
  }
  for (int i = 0; i < 20; ++i) {
    lower.push_back(random() % (part / 2));
    upper.push_back(size / 2 + random() % (size / 2));
  }
  const auto lower_cells = at().upload(lower);
  const auto upper_cells = at().upload(upper);
  buffer<std::uint64_t> out(at(), lower.size());
  built->position(at(), ranges(column(lower_cells), column(upper_cells)),
                  std::span(out.data(), out.size()));
  EXPECT_EQ(repairs(*built, context(at()).stream), 0);
  const auto found = at().download(out);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(lower[i]);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(upper[i]) + 1;
    ASSERT_EQ(found[i], static_cast<std::uint64_t>(std::min_element(begin, end) - values.begin()))
        << lower[i] << " to " << upper[i];
  }
}

}  // namespace
}  // namespace raydex
