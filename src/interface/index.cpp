// SPDX-License-Identifier: Apache-2.0
// The checks that every query of every structure goes through.
#include "raydex/index.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/watch.hpp"

namespace raydex {

index::index(memory_resource& upstream) : memory_(upstream) {}
index::~index() = default;

void index::measure() noexcept {
  info_.resident_bytes = memory_.current();
  info_.build_peak_bytes = memory_.peak();
}

void index::check(const context& on, const probes& batch, std::uint64_t out_size) const {
  check_space(on, info_.where);
  check_column("probes", batch.lower);
  if (batch.lower.format != info_.key) {
    throw invalid_argument(fmt::format("probes: they are {}, but the keys of the index are {}",
                                       to_string(batch.lower.format), to_string(info_.key)));
  }
  if (!batch.is_points) check_column("probes", batch.upper);
  check_sizes("probes", batch, out_size);
  check_kind(batch);
}

void index::check_kind(const probes& /*batch*/) const {}

void index::check_values(const column& values) const {
  check_column("values", values);
  if (info_.entries != 0 && values.size <= info_.max_row_id) {
    throw invalid_argument(fmt::format("values: {} cells, but the largest row id is {}",
                                       values.size, info_.max_row_id));
  }
}

namespace {

constexpr const char* of_index = "the index";

// How many probes an array of offsets serves.
std::uint64_t probes_with(std::uint64_t offsets) {
  if (offsets == 0) throw invalid_argument("offsets: no room; one more than probes is needed");
  return offsets - 1;
}

void check_value_type(const column& values, bool fits, const char* legal) {
  if (!fits) {
    throw invalid_argument(
        fmt::format("values: they are {}; this output takes {}", to_string(values.format), legal));
  }
}

}  // namespace

void index::first(const context& on, const probes& batch, const row_id_span& out) const try {
  check(on, batch, out.size);
  check_row_ids(out, info_.row_ids, of_index);
  if (batch.size() == 0) return;
  write_row_ids(on, info_.where, info_.row_ids, out,
                [&](void* rows) { do_first(on, batch, rows); });
} catch (...) {
  rethrow_as_error();
}

void index::contains(const context& on, const probes& batch, std::span<bool> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() == 0) return;
  buffer<std::byte> rows(on, saturated_product(batch.size(), row_id_bytes(info_.row_ids)));
  do_first(on, batch, rows.data());
  operation_on(info_.where, &operation_table::mark_found)(
      on, {info_.row_ids, rows.data(), batch.size()}, out.data());
} catch (...) {
  rethrow_as_error();
}

void index::count(const context& on, const probes& batch, std::span<std::uint64_t> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_count(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void index::sum(const context& on, const probes& batch, std::span<std::uint64_t> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  if (batch.size() != 0) do_sum(on, batch, {column{}, out.data()});
} catch (...) {
  rethrow_as_error();
}

void index::sum(const context& on, const probes& batch, const column& values,
                std::span<std::uint64_t> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  check_values(values);
  const key_type type = values.format.type;
  check_value_type(values, type == key_type::uint32 || type == key_type::uint64,
                   "uint32 or uint64");
  if (batch.size() != 0) do_sum(on, batch, {values, out.data()});
} catch (...) {
  rethrow_as_error();
}

void index::sum(const context& on, const probes& batch, const column& values,
                std::span<std::int64_t> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  check_values(values);
  const key_type type = values.format.type;
  check_value_type(values, type == key_type::int32 || type == key_type::int64, "int32 or int64");
  if (batch.size() != 0) do_sum(on, batch, {values, out.data()});
} catch (...) {
  rethrow_as_error();
}

void index::sum(const context& on, const probes& batch, const column& values,
                std::span<double> out) const try {
  check(on, batch, out.size());
  check_array("out", out);
  check_values(values);
  const key_type type = values.format.type;
  check_value_type(values, type == key_type::float32 || type == key_type::float64,
                   "float or double");
  if (batch.size() != 0) do_sum(on, batch, {values, out.data()});
} catch (...) {
  rethrow_as_error();
}

void index::offsets(const context& on, const probes& batch, std::span<std::uint64_t> out) const
    try {
  check(on, batch, probes_with(out.size()));
  check_array("out", out);
  do_offsets(on, batch, out.data());
} catch (...) {
  rethrow_as_error();
}

void index::rows(const context& on, const probes& batch, std::span<const std::uint64_t> offsets,
                 const row_id_span& out) const try {
  check(on, batch, probes_with(offsets.size()));
  check_array("offsets", offsets);
  check_row_ids(out, info_.row_ids, of_index);
  if (info_.where == backend::cpu && offsets.back() > out.size) {
    throw invalid_argument(fmt::format("out: it holds {} row ids, but the offsets end at {}",
                                       out.size, offsets.back()));
  }
  if (batch.size() == 0) return;
  write_row_ids(
      on, info_.where, info_.row_ids, out,
      [&](void* rows) { do_rows(on, batch, offsets.data(), rows); }, &offsets.back());
} catch (...) {
  rethrow_as_error();
}

matches index::rows(const context& on, const probes& batch) const try {
  check(on, batch, batch.size());
  return do_matches(on, batch);
} catch (...) {
  rethrow_as_error();
}

matches index::do_matches(const context& on, const probes& batch) const {
  matches found{.offsets = {on, batch.size() + 1}, .rows = {}, .type = info_.row_ids, .total = 0};
  do_offsets(on, batch, found.offsets.data());
  found.total = do_read(on, found.offsets.data() + batch.size());
  found.rows = buffer<std::byte>(on, saturated_product(found.total, row_id_bytes(found.type)));
  if (batch.size() != 0) do_rows(on, batch, found.offsets.data(), found.rows.data());
  return found;
}

void index::bitset(const context& on, const probes& batch, std::uint64_t size,
                   std::span<std::uint32_t> words) const try {
  check(on, batch, batch.size());
  check_array("words", words);
  if (words.size() != size / 32 + (size % 32 != 0 ? 1 : 0))
    throw invalid_argument(fmt::format("words: {} are no bits of {} rows", words.size(), size));
  if (!operation_on(info_.where, &operation_table::write_bitset)(*this, on, batch, size,
                                                                 words.data()))
    throw invalid_argument(
        fmt::format("size: {}, but the index has rows up to {}", size, info_.max_row_id));
} catch (...) {
  rethrow_as_error();
}

void index::check_points(const context& on, const probes& batch, std::uint64_t out_size) const {
  check(on, batch, out_size);
  if (!batch.is_points)
    throw invalid_argument("probes: they are ranges; places among the keys are asked of points");
}

void index::rank(const context& on, const probes& batch, std::span<std::uint64_t> out) const try {
  check_points(on, batch, out.size());
  check_ranks("rank");
  check_array("out", out);
  do_rank(on, batch, false, out.data());
} catch (...) {
  rethrow_as_error();
}

void index::rank_right(const context& on, const probes& batch, std::span<std::uint64_t> out) const
    try {
  check_points(on, batch, out.size());
  check_ranks("rank");
  check_array("out", out);
  do_rank(on, batch, true, out.data());
} catch (...) {
  rethrow_as_error();
}

void index::closest(const context& on, const probes& batch, bool before, closeness which,
                    const row_id_span& out) const try {
  check_points(on, batch, out.size);
  check_ranks(before ? "predecessor" : "successor");
  check_row_ids(out, info_.row_ids, of_index);
  write_row_ids(on, info_.where, info_.row_ids, out,
                [&](void* rows) { do_closest(on, batch, before, which, false, rows); });
} catch (...) {
  rethrow_as_error();
}

void index::predecessor(const context& on, const probes& batch, const row_id_span& out,
                        closeness which) const {
  closest(on, batch, true, which, out);
}

void index::successor(const context& on, const probes& batch, const row_id_span& out,
                      closeness which) const {
  closest(on, batch, false, which, out);
}

void index::entries(const context& on, std::span<std::uint64_t> codes,
                    const row_id_span& rows) const try {
  check_space(on, info_.where);
  check_array("codes", codes);
  check_row_ids(rows, info_.row_ids, of_index);
  if (codes.size() != info_.entries || rows.size != info_.entries) {
    throw invalid_argument(fmt::format("codes, rows: {} and {}, but the index has {} entries",
                                       codes.size(), rows.size, info_.entries));
  }
  write_row_ids(on, info_.where, info_.row_ids, rows,
                [&](void* to) { do_entries(on, codes.data(), to); });
} catch (...) {
  rethrow_as_error();
}

void index::edit(stream_t stream, const edits& batch) try {
  const unwatched from_here;
  const auto check_keys = [&](const char* argument, const column& keys) {
    check_column(argument, keys);
    if (keys.size != 0 && keys.format != info_.key) {
      throw invalid_argument(fmt::format("{}: they are {}, but the keys of the index are {}",
                                         argument, to_string(keys.format), to_string(info_.key)));
    }
  };
  const auto check_rows = [&](const char* argument, const column& rows, const column& keys) {
    check_explicit_rows(argument, rows, keys.size);
    const key_type needed =
        info_.row_ids == row_id_type::uint32 ? key_type::uint32 : key_type::uint64;
    if (keys.size != 0 && rows.format.type != needed) {
      throw invalid_argument(fmt::format("{}: they are {}, but those of the index are {}", argument,
                                         to_string(rows.format), name(info_.row_ids)));
    }
  };
  check_keys("insert", batch.insert);
  check_rows("insert rows", batch.insert_rows, batch.insert);
  check_keys("erase", batch.erase);
  if (batch.erase_rows) check_rows("erase rows", *batch.erase_rows, batch.erase);
  do_edit(stream, batch);
  count_change();
} catch (...) {
  rethrow_as_error();
}

namespace {
[[noreturn]] void refuse_ranks(const index& own, const char* call) {
  throw unsupported(fmt::format("{}: {} ({}) does not know the ranks of its keys; pivot_tree does",
                                call, own.info().structure, own.info().options));
}
}  // namespace

void index::check_ranks(const char* call) const {
  refuse_ranks(*this, call);
}

void index::do_locate(const context& /*on*/, const probes& /*batch*/, void* /*begins*/,
                      void* /*counts*/, bool /*single_rows*/) const {
  refuse_ranks(*this, "join");
}

const void* index::do_row_list(const context& on, buffer<std::byte>& made) const {
  made = {on, saturated_product(info_.entries, row_id_bytes(info_.row_ids))};
  do_row_ids(on, made.data());
  return made.data();
}

std::uint64_t index::do_count_repeated(const context& /*on*/) const {
  refuse_ranks(*this, "join");
}

void index::do_row_ids(const context& /*on*/, void* /*out*/) const {
  refuse_ranks(*this, "aggregate");
}

void index::do_rank(const context& /*on*/, const probes& /*batch*/, bool /*past*/,
                    std::uint64_t* /*out*/) const {
  refuse_ranks(*this, "rank");
}

void index::do_closest(const context& /*on*/, const probes& /*batch*/, bool before,
                       closeness /*which*/, bool /*last*/, void* /*out*/) const {
  refuse_ranks(*this, before ? "predecessor" : "successor");
}

void index::do_edit(stream_t /*stream*/, const edits& /*batch*/) {
  throw unsupported(
      fmt::format("{} takes no insertions and deletions; pivot_tree does", info_.structure));
}

void index::do_entries(const context& /*on*/, std::uint64_t* /*codes*/, void* /*rows*/) const {
  throw unsupported(fmt::format("entries: {} ({}) keeps no keys; build it again over the column",
                                info_.structure, info_.options));
}

void index::do_keep(const context& /*own*/, kept_memory& /*file*/) {
  throw unsupported(fmt::format(
      "save: {} ({}) cannot be kept in a file; keep the column, and build the index again",
      info_.structure, info_.options));
}

}  // namespace raydex
