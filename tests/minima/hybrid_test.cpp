// SPDX-License-Identifier: Apache-2.0
// What is particular to the hierarchy whose last level is searched by rays.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

// Passes requests on while it is open.
class closable_resource final : public memory_resource {
 public:
  explicit closable_resource(memory_resource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    if (!is_open) throw out_of_memory(bytes, 0);
    return upstream_.allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return upstream_.space(); }

  bool is_open = true;

 private:
  memory_resource& upstream_;
};

class rmq_hybrid : public test::backend_test {
 protected:
  // `by_search`: how many of 2000 lookups a search answers.
  template <class T>
  void check(const rmq& built, const std::vector<T>& values, std::uint64_t by_search = 0) const {
    const std::uint64_t before = repairs(built, context(at()).stream);
    const test::rmq_oracle<T> oracle(values, rmq_ties::leftmost);
    auto random = test::generator(values.size());
    std::vector<std::uint32_t> lower;
    std::vector<std::uint32_t> upper;
    for (int i = 0; i < 1000; ++i) {
      lower.push_back(static_cast<std::uint32_t>(test::below(random, values.size())));
      upper.push_back(lower.back() + static_cast<std::uint32_t>(
                                         test::below(random, values.size() - lower.back())));
    }
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    const probes batch = ranges(column(lower_cells), column(upper_cells));
    buffer<std::uint64_t> positions(at(), lower.size());
    buffer<T> minima(at(), lower.size());
    built.position(at(), batch, std::span(positions.data(), positions.size()));
    built.minimum(at(), batch, value_span(minima));
    EXPECT_EQ(repairs(built, context(at()).stream) - before, by_search);
    const auto found = at().download(positions);
    const auto least = at().download(minima);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      ASSERT_EQ(found[i], oracle.position(lower[i], upper[i])) << lower[i] << " to " << upper[i];
      ASSERT_EQ(least[i], values[found[i]]);
    }
  }
};

TEST_F(rmq_hybrid, changed_values_are_taken_in) {
  auto random = test::generator();
  for (const char* cutoff : {"20", "100000"}) {
    std::vector<std::uint64_t> values(5000);
    for (auto& value : values)
      value = random() % 1000 + 100;
    auto array = at().upload(values);
    const auto built = build_rmq("rmq_hierarchy", test::tested_backend(), at(), column(array),
                                 {{"top", "rays"}, {"chunk", "8"}, {"cutoff", cutoff}});
    EXPECT_NE(built->info().options.find("top=rays"), std::string::npos);
    check(*built, values);
    std::vector<std::uint32_t> changed;
    for (int i = 0; i < 50; ++i) {
      changed.push_back(static_cast<std::uint32_t>(random() % values.size()));
      values[changed.back()] = random() % 2000;
    }
    at().copy_in(array.data(), values.data(), array.bytes());
    const auto cells = at().upload(changed);
    built->refresh(context(at()).stream, column(cells));
    check(*built, values);
  }
}

// If there is no memory for the scene of changed values, the levels answer without it.
TEST_F(rmq_hybrid, lookups_without_a_scene_are_repairs) {
  std::vector<std::int32_t> values(5000, 9);
  auto array = at().upload(values);
  const stream_t stream = context(at()).stream;
  closable_resource memory(context(at()).memory);
  const auto built = build_rmq("rmq_hierarchy", test::tested_backend(), context{memory, stream},
                               column(array), {{"top", "rays"}, {"chunk", "4"}});
  check(*built, values);
  values[4321] = 3;
  at().copy_in(array.data(), values.data(), array.bytes());
  const auto changed = at().upload(std::vector<std::uint32_t>{4321});
  memory.is_open = false;
  EXPECT_THROW(built->refresh(stream, column(changed)), out_of_memory);
  check(*built, values, 2000);
  memory.is_open = true;
  built->refresh(stream, column(changed));
  check(*built, values);
}

TEST_F(rmq_hybrid, rays_that_a_backend_lacks_are_refused) {
  const auto array = at().upload(std::vector<float>(10));
  if (test::tested_backend() == backend::optix) {
    test::expect_error<unsupported>(
        [&] {
          build_rmq("rmq_hierarchy", backend::optix, at(), column(array), {{"top", "scan"}});
        },
        {"option top", "take backend cuda"});
    test::expect_error<unsupported>(
        [&] {
          build_rmq("rmq_hierarchy", backend::cuda, at(), column(array), {{"top", "rays"}});
        },
        {"option top", "take backend optix"});
  } else {
    const auto built = build_rmq("rmq_hierarchy", backend::cpu, at(), column(array));
    EXPECT_NE(built->info().options.find("top=scan"), std::string::npos);
  }
}

}  // namespace
}  // namespace raydex
