// SPDX-License-Identifier: Apache-2.0
#include "src/operations/lookups/edited.hpp"

#include "src/machines/cpu/executor.hpp"
#include "src/machines/cpu/keys/entry_lists.hpp"

namespace raydex::cpu {

namespace {

struct lists : executor {
  template <class Key, class RowId>
  static void select_unmarked(const context& on, const core::strided_list<Key, RowId>& list,
                              const std::uint8_t* marks, sorted_column<Key, RowId>& to) {
    cpu::select_unmarked(on, list, marks, to);
  }
  template <class Key, class RowId>
  static void merge(const context& /*on*/, const core::strided_list<Key, RowId>& a,
                    const core::entry_list<Key, RowId>& b, sorted_column<Key, RowId>& to) {
    cpu::merge(a, b, to);
  }
};

}  // namespace

template <class Key, class RowId>
sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                    const entry_order& order) {
  return edits_by<lists, Key, RowId>::sort(on, batch, order);
}

template <class Key, class RowId>
std::optional<sorted_column<Key, RowId>> edited(const context& on,
                                                const core::strided_list<Key, RowId>& entries,
                                                const sorted_edits<Key, RowId>& batch) {
  return edits_by<lists, Key, RowId>::apply(on, entries, batch);
}

template sorted_edits<std::uint32_t, std::uint32_t> sort_edits(const context&, const edits&,
                                                               const entry_order&);
template sorted_edits<std::uint32_t, std::uint64_t> sort_edits(const context&, const edits&,
                                                               const entry_order&);
template sorted_edits<std::uint64_t, std::uint32_t> sort_edits(const context&, const edits&,
                                                               const entry_order&);
template sorted_edits<std::uint64_t, std::uint64_t> sort_edits(const context&, const edits&,
                                                               const entry_order&);
template std::optional<sorted_column<std::uint32_t, std::uint32_t>> edited(
    const context&, const core::strided_list<std::uint32_t, std::uint32_t>&,
    const sorted_edits<std::uint32_t, std::uint32_t>&);
template std::optional<sorted_column<std::uint32_t, std::uint64_t>> edited(
    const context&, const core::strided_list<std::uint32_t, std::uint64_t>&,
    const sorted_edits<std::uint32_t, std::uint64_t>&);
template std::optional<sorted_column<std::uint64_t, std::uint32_t>> edited(
    const context&, const core::strided_list<std::uint64_t, std::uint32_t>&,
    const sorted_edits<std::uint64_t, std::uint32_t>&);
template std::optional<sorted_column<std::uint64_t, std::uint64_t>> edited(
    const context&, const core::strided_list<std::uint64_t, std::uint64_t>&,
    const sorted_edits<std::uint64_t, std::uint64_t>&);

}  // namespace raydex::cpu
