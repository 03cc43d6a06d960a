// SPDX-License-Identifier: Apache-2.0
// Joins that build their index, and which table is indexed.
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

namespace {

index_maker maker_of(backend where, const join_options& options) {
  return [=](const context& on, const column& keys) {
    return build(options.structure, where, on, keys, std::nullopt, options.options);
  };
}

// Whether a hash table is built and asked sooner than what `auto` takes, which is for many batches
// and any probes: of 2^20 keys of 64 bits and more by a tenth to a third, on an H100.
bool is_soon_hashed(backend where, const key_parts& keys, bool missing_equal) {
  return where != backend::cpu && size_of(keys) >= std::uint64_t{1} << 20 &&
         composite_of(keys, missing_equal).bits() > 32;
}

// What a join found, with the join.
class joined_of_own final : public joined {
 public:
  joined_of_own(backend where, std::unique_ptr<join> side, std::unique_ptr<joined> found)
      : joined(where, found->kind(), found->probes(), 0),  // the other one knows the rows
        side_(std::move(side)),
        found_(std::move(found)) {
    size_ = found_->size();
    unmatched_ = found_->unmatched();
  }

 private:
  void do_counts(const context& on, std::uint64_t* out) const override {
    found_->counts(on, std::span(out, probes()));
  }
  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    found_->rows(on, first, out);
  }

  std::unique_ptr<join> side_;
  std::unique_ptr<joined> found_;
};

}  // namespace

std::unique_ptr<join> build_join(backend where, const context& on, const key_parts& keys,
                                 const join_options& options) try {
  check_available(where);
  check_space(on, where);
  check_key(where, "keys", keys);
  return operation_on(where, &operation_table::build_join)(on, keys, options,
                                                           maker_of(where, options));
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<asof_join> build_asof_join(backend where, const context& on, const column& times,
                                           const key_parts& by, bool missing_equal) try {
  check_available(where);
  check_space(on, where);
  check_column("times", times);
  if (times.format.type == key_type::bytes)
    throw invalid_argument("times: they are " + to_string(times.format) + "; times are numbers");
  if (!by.empty() && check_key(where, "by", by) != times.size)
    throw invalid_argument("by: its columns have another number of rows than the times");
  return operation_on(where, &operation_table::build_asof_join)(where, on, times, by,
                                                                missing_equal);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> match_tables(backend where, const context& on, const key_parts& build,
                                     const key_parts& probe, join_kind kind,
                                     const join_options& options) try {
  check_available(where);
  check_space(on, where);
  check_key(where, "build", build);
  check_key(where, "probe", probe);
  check_same_key("probe", probe, formats_of(build));
  to_string(kind);  // which knows all kinds
  join_options chosen = options;
  if (options.structure == "auto" && options.options.empty()) {
    auto found =
        operation_on(where, &operation_table::join_once)(where, on, build, probe, kind, options);
    if (found != nullptr) return found;
    if (is_soon_hashed(where, build, options.missing_equal)) chosen.structure = "hash_open";
  }
  std::unique_ptr<join> side = build_join(where, on, build, chosen);
  std::unique_ptr<joined> found = side->match(on, probe, kind);
  return std::make_unique<joined_of_own>(where, std::move(side), std::move(found));
} catch (...) {
  rethrow_as_error();
}

join_rows join_tables(backend where, const context& on, const key_parts& build,
                      const key_parts& probe, join_kind kind, join_side side,
                      const join_options& options) try {
  const std::uint64_t build_rows = check_key(where, "build", build);
  const std::uint64_t probe_rows = check_key(where, "probe", probe);
  if (side == join_side::probe && kind != join_kind::inner) {
    throw invalid_argument("side: the probe side is indexed for inner joins only");
  }
  const bool swapped =
      side == join_side::probe ||
      (side == join_side::automatic && kind == join_kind::inner && probe_rows < build_rows);
  const auto found =
      match_tables(where, on, swapped ? probe : build, swapped ? build : probe, kind, options);
  constexpr std::uint64_t most = not_found<std::uint32_t>;
  join_rows all;
  all.type = build_rows < most && probe_rows < most ? row_id_type::uint32 : row_id_type::uint64;
  all.size = found->size();
  const std::uint64_t bytes = saturated_product(all.size, row_id_bytes(all.type));
  all.probe_rows = {on, bytes};
  if (kind != join_kind::semi && kind != join_kind::anti) all.build_rows = {on, bytes};
  gather_maps maps(all.type, all.probe_rows.data(), all.build_rows.data(), all.size);
  if (swapped) std::swap(maps.probe_rows, maps.build_rows);
  found->rows(on, maps);
  return all;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
