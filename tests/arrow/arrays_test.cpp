// SPDX-License-Identifier: Apache-2.0
// Arrow's arrays on the tested backend's device are columns where they lie, and row ids are arrays.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/arrow/arrays.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

class arrow_arrays : public backend_test {
 protected:
  ArrowDeviceType device_type() const {
    return at().where() == backend::cpu ? ARROW_DEVICE_CPU : ARROW_DEVICE_CUDA;
  }
  ArrowDeviceArray here(const made_array& array, void* event = nullptr) const {
    return array.on(device_type(), at().where() == backend::cpu ? -1 : 0, event);
  }
};

TEST_F(arrow_arrays, are_columns_where_they_lie) {
  const auto cells = at().upload(std::vector<std::int64_t>{9, 9, 5, 7, 5, 6, 9});
  const auto bits =
      at().upload(std::vector<std::uint8_t>{0b0111'0111});  // the third one is missing
  const made_array whole("l", 7, {bits.data(), cells.data()});
  const made_array cut("ttn", 4, {bits.data(), cells.data()}, 2);
  EXPECT_EQ(column_of(at(), here(whole), whole.schema).data, cells.data());
  const column slice = column_of(at(), here(cut), cut.schema);
  EXPECT_EQ(slice.data, cells.data() + 2);
  EXPECT_EQ(slice.size, 4);
  EXPECT_EQ(slice.validity.bits, bits.data());
  EXPECT_EQ(slice.validity.offset, 2);

  // 5, missing, 5, 6
  const auto index = build("auto", at().where(), at(), slice);
  buffer<std::uint64_t> counts(at(), 4);
  index->count(at(), points(slice), counts);
  EXPECT_EQ(at().download(counts), (std::vector<std::uint64_t>{2, 0, 2, 1}));
}

TEST_F(arrow_arrays, of_strings_are_keys_of_joins) {
  const auto bytes = at().upload(std::string("xxaabbbc"));
  const auto ends = at().upload(std::vector<std::int32_t>{0, 2, 4, 7, 7, 8});
  const auto wide = at().upload(std::vector<std::int64_t>{0, 2, 2, 4, 7, 8});
  const made_array build("u", 4, {nullptr, ends.data(), bytes.data()}, 1);  // aa bbb "" c
  const made_array probe("U", 5, {nullptr, wide.data(), bytes.data()});     // xx "" aa bbb c
  const auto join = build_join(at().where(), at(), {key_part_of(at(), here(build), build.schema)});
  const auto found =
      join->match(at(), {key_part_of(at(), here(probe), probe.schema)}, join_kind::inner);
  buffer<std::uint64_t> probes(at(), found->size());
  buffer<std::uint64_t> builds(at(), found->size());
  found->rows(at(), gather_maps(probes, builds));
  EXPECT_EQ(at().download(probes), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(at().download(builds), (std::vector<std::uint64_t>{2, 0, 1, 3}));
  expect_error<invalid_argument>([&] { column_of(at(), here(build), build.schema); },
                                 {"'u'", "key_part_of"});
}

TEST_F(arrow_arrays, on_another_device_are_refused) {
  const auto cells = at().upload(std::vector<std::int32_t>{1, 2});
  const made_array array("i", 2, {nullptr, cells.data()});
  const auto refused = [&](ArrowDeviceType type, std::int64_t number, const char* word) {
    expect_error<invalid_argument>([&] { column_of(at(), array.on(type, number), array.schema); },
                                   {"array", word});
  };
  refused(ARROW_DEVICE_ROCM, 0, "type 10");
  if (at().where() == backend::cpu) {
    refused(ARROW_DEVICE_CUDA, 0, "host memory");
    int event = 0;
    expect_error<invalid_argument>([&] { column_of(at(), here(array, &event), array.schema); },
                                   {"event"});
    EXPECT_EQ(column_of(at(), array.on(ARROW_DEVICE_CUDA_HOST, -1), array.schema).size, 2);
  } else {
    refused(ARROW_DEVICE_CPU, -1, "CUDA device");
    refused(ARROW_DEVICE_CUDA, 77, "on CUDA device 77, and the current one is 0");
    EXPECT_EQ(column_of(at(), array.on(ARROW_DEVICE_CUDA_MANAGED, 0), array.schema).size, 2);
    if (!tested_by_emulation()) return;  // compute-sanitizer reports calls of CUDA that fail
    // What is no event is handed to CUDA, which says so.
    void* none = nullptr;
    EXPECT_THROW(column_of(at(), here(array, &none), array.schema), cuda_error);
  }
}

TEST_F(arrow_arrays, are_made_of_row_ids) {
  const context on = at();
  tracking_resource counted(on.memory);
  ArrowDeviceArray array{};
  ArrowSchema schema{};
  {
    const context own{counted, on.stream};
    buffer<std::uint32_t> rows(own, 3);
    const std::vector<std::uint32_t> numbers{4, 1, not_found<std::uint32_t>};
    at().copy_in(rows.data(), numbers.data(), rows.bytes());
    const void* const first = rows.data();
    to_arrow(own, std::move(rows), array, schema);
    EXPECT_EQ(rows.size(), 0);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(array.array.buffers[1], first);
  }
  EXPECT_STREQ(schema.format, "I");
  EXPECT_EQ(array.device_type, device_type());
  EXPECT_EQ(array.device_id, at().where() == backend::cpu ? -1 : 0);
  EXPECT_EQ(array.sync_event == nullptr, at().where() == backend::cpu);
  EXPECT_EQ(array.array.null_count, 0);
  EXPECT_EQ(array.array.buffers[0], nullptr);

  // What is made is what is taken, with its event.
  const column back = column_of(at(), array, schema);
  std::vector<std::uint32_t> read(back.size);
  at().copy_out(read.data(), back.data, read.size() * 4);
  EXPECT_EQ(read, (std::vector<std::uint32_t>{4, 1, not_found<std::uint32_t>}));

  EXPECT_GT(counted.current(), 0);
  array.array.release(&array.array);
  EXPECT_EQ(array.array.release, nullptr);
  EXPECT_EQ(counted.current(), 0);
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
}

TEST_F(arrow_arrays, are_made_of_the_rows_of_a_join) {
  const auto cells = at().upload(std::vector<std::int32_t>{3, 1, 3});
  const key_parts key{column(cells)};
  const auto rows = std::make_shared<join_rows>(join_tables(at().where(), at(), key, key));
  ArrowDeviceArray array{};
  ArrowSchema schema{};
  to_arrow(at(), {rows->type, rows->build_rows.data(), rows->size}, rows, array, schema);
  EXPECT_EQ(rows.use_count(), 2);
  EXPECT_EQ(array.array.length, 5);
  EXPECT_EQ(column_of(at(), array, schema).data, rows->build_rows.data());
  array.array.release(&array.array);
  schema.release(&schema);
  EXPECT_EQ(rows.use_count(), 1);
  // Of none, too.
  to_arrow(at(), buffer<std::uint64_t>(at(), 0), array, schema);
  EXPECT_STREQ(schema.format, "L");
  EXPECT_EQ(column_of(at(), array, schema).size, 0);
  array.array.release(&array.array);
  schema.release(&schema);
}

}  // namespace
}  // namespace raydex::test
