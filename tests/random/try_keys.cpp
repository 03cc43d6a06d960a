// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <future>
#include <set>
#include <utility>

#include "tests/random/bits.hpp"
#include "tests/random/options.hpp"
#include "tests/random/oracle.hpp"
#include "tests/random/trial.hpp"
#include "tests/support/repairs.hpp"

namespace raydex::test {

namespace {

using entries_view = std::span<const held_keys::entry>;

// A batch in the backend's memory, and what it matches.
struct asked_batch {
  const fault& fails;
  const std::vector<range>& ranges;
  const probes& view;
  std::vector<entries_view> expected;
};

class key_trial {
 public:
  key_trial(const place& where, const test_case& tried)
      : where_(where),
        case_(tried),
        memory_(context(where.at()).memory),
        rows_format_(tried.rows == row_kind::wide ? format_of<std::uint64_t>
                                                  : format_of<std::uint32_t>),
        held_(tried.key, tried.keys, tried.rows != row_kind::implicit) {}

  void run() {
    bool accepted = false;
    do_part("build", [&] { accepted = build(); });
    for (std::size_t i = 0; accepted && i < case_.steps.size(); ++i) {
      const step& one = case_.steps[i];
      do_part(fmt::format("step {}", i + 1),
              [&] { one.what == action::ask ? ask(one) : change(one); });
    }
    if (accepted) require_no_repairs();
    index_.reset();
    require(memory_.held() == 0, "{} bytes leak", memory_.held());
  }

 private:
  context own() { return {memory_, context(where_.at()).stream}; }
  stream_t stream() const { return context(where_.at()).stream; }

  placed_column place_keys(const std::vector<cell>& cells) const {
    return {where_.at(), case_.key, cells, case_.key_cells, case_.masked};
  }
  placed_column place_rows(const std::vector<cell>& cells) const {
    std::vector<cell> rows = cells;
    for (cell& one : rows)
      one.missing = false;
    return {where_.at(), rows_format_, rows, case_.row_cells, false, &cell::row};
  }

  // ---- keys that have no place in a scene

  enum class outlook { accepted, refused, unknown };

  // Whether a scene of these entries must be refused.
  outlook outlook_for(const std::vector<held_keys::entry>& entries) const {
    if (refuses_repeats()) {
      const auto equal = [](const auto& a, const auto& b) { return !is_less(a.key, b.key); };
      const bool repeats =
          std::adjacent_find(entries.begin(), entries.end(), equal) != entries.end();
      return repeats ? outlook::refused : outlook::accepted;
    }
    if (case_.structure == "direct" && !entries.empty()) {
      const auto limit = case_.options.find("limit");
      const number places = limit == case_.options.end() ? 4 : std::stoul(limit->second);
      const number span = entries.back().key - entries.front().key;
      return span < places * static_cast<number>(entries.size()) ? outlook::accepted
                                                                 : outlook::refused;
    }
    const auto largest = largest_place(case_.structure, case_.options);
    if (!largest || entries.empty()) return outlook::accepted;
    const key_type type = case_.key.type;
    if (type == key_type::float32 || type == key_type::float64) return outlook::unknown;
    number smallest_key = number_of(case_.key, extremes_of(case_.key).front());
    number rank = entries.back().key - smallest_key;
    // Strings have their first byte on top.
    if (type == key_type::bytes) {
      const unsigned width = case_.key.width;
      for (unsigned byte = width; byte < (width <= 4 ? 4U : 8U); ++byte)
        rank *= 256;
    }
    return rank <= static_cast<number>(*largest) ? outlook::accepted : outlook::refused;
  }

  // How far the largest key is from the smallest one.
  static number span_of(const held_keys& keys) {
    const auto& entries = keys.entries();
    return entries.empty() ? 0 : entries.back().key - entries.front().key;
  }

  bool refuses_repeats() const {
    const auto repeats = case_.options.find("repeats");
    return repeats != case_.options.end() && repeats->second == "refused";
  }

  // Makes a call that may fail, and then repeats it. Returns whether it was accepted.
  // `before_again` checks what a failure has left behind.
  template <class Call, class Look>
  bool make(const fault& fails, outlook expected, Call&& call, Look&& before_again) {
    try {
      if (!survives(memory_, fails, call)) {
        before_again();
        call();
      }
    } catch (const unsupported& e) {
      require(expected != outlook::accepted, "it is refused: {}", e.what());
      return false;
    } catch (const invalid_argument& e) {
      require(expected == outlook::refused && refuses_repeats(), "it is refused: {}", e.what());
      return false;
    }
    require(expected != outlook::refused, "a key without a place is accepted");
    return true;
  }

  // ---- changes

  bool build() {
    const placed_column keys = place_keys(case_.keys);
    const placed_column rows = place_rows(case_.keys);
    std::optional<column> row_ids;
    if (case_.rows != row_kind::implicit) row_ids = rows.view();
    const auto call = [&] {
      index_ = where_.build()(case_.structure, where_.tested().where, own(), keys.view(), row_ids,
                              case_.options);
    };
    const bool accepted = make(case_.build_fails, outlook_for(held_.entries()), call, [&] {
      require(memory_.held() == 0, "a failed build leaks {} bytes", memory_.held());
    });
    if (!accepted) return false;
    require_info(case_.keys);
    compare_all(case_.keys);
    return true;
  }

  void change(const step& one) {
    held_keys after = held_;
    if (one.what == action::edit) after.edit(one);
    if (one.what == action::update)
      after = held_keys(case_.key, one.put, case_.rows != row_kind::implicit);
    outlook expected = outlook_for(after.entries());
    // An edit need not rebuild the scene, or takes no more places than there are.
    if (one.what == action::edit && expected == outlook::refused && !refuses_repeats() &&
        (case_.structure != "direct" || span_of(after) <= span_of(held_)))
      expected = outlook::unknown;

    const placed_column put = place_keys(one.put);
    const placed_column put_rows = place_rows(one.put);
    const placed_column erase = place_keys(one.erase);
    const placed_column erase_rows = place_rows(one.erase);
    std::vector<cell> touched = one.put;
    touched.insert(touched.end(), one.erase.begin(), one.erase.end());
    const auto call = [&] {
      if (one.what == action::rebuild) {
        dynamic_cast<cgrx&>(*index_).rebuild(stream());
      } else if (one.what == action::update) {
        std::optional<column> rows;
        if (case_.rows != row_kind::implicit) rows = put_rows.view();
        dynamic_cast<rx&>(*index_).update(stream(), put.view(), rows);
      } else {
        std::optional<column> rows;
        if (one.erase_pairs) rows = erase_rows.view();
        index_->edit(stream(), {put.view(), put_rows.view(), erase.view(), rows});
      }
    };
    if (make(one.fails, expected, call, [&] { compare_all(touched); })) {
      held_ = std::move(after);
      if (one.what == action::update) require_info(one.put);
    }
    compare_all(touched);
  }

  // After a build or an update.
  void require_info(const std::vector<cell>& keys) const {
    const index_info& info = index_->info();
    require(info.n == keys.size(), "info().n is {} for {} keys", info.n, keys.size());
    // Missing keys have row ids, too.
    std::uint64_t largest = 0;
    for (std::uint64_t i = 0; i < keys.size(); ++i)
      largest = std::max(largest, case_.rows == row_kind::implicit ? i : keys[i].row);
    require(info.max_row_id == largest, "info().max_row_id is {}, expected {}", info.max_row_id,
            largest);
  }

  // Rays traced by Embree are right except where floats have no room. RT cores may round anywhere.
  void require_no_repairs() const {
    if (where_.tested().where != backend::cpu || most_repairs(*index_, 2) != 0) return;
    const std::uint64_t repaired = repairs(*index_, stream());
    require(repaired == 0, "{} lookups were repaired", repaired);
  }

  // ---- questions

  // Asks for everything in the index, and for some keys.
  void compare_all(const std::vector<cell>& some) {
    const auto extremes = extremes_of(case_.key);
    step all;
    all.points = false;
    all.ranges = {{{extremes.front()}, {extremes.back()}}};
    all.answers = {answer::count};
    if (!is_by_rows(case_.options)) all.answers.push_back(answer::rows);
    if (answers_ranges(case_.structure, case_.key, case_.options)) ask(all);
    step points;
    points.answers = {answer::first};
    for (std::size_t i = 0; i < std::min<std::size_t>(some.size(), 24); ++i)
      points.ranges.push_back({{some[i].bits}, {some[i].bits}});
    ask(points);
    const auto entries = index_->info().entries;
    require(entries == held_.entries().size(), "info().entries is {}, not {}", entries,
            held_.entries().size());
  }

  void ask(const step& one) {
    // A batch ends before it would match too much.
    constexpr std::size_t most = 400'000;
    std::vector<range> ranges;
    std::vector<entries_view> expected;
    std::size_t matched = 0;
    for (const range& wanted : one.ranges) {
      const cell& upper = one.points ? wanted.lower : wanted.upper;
      const entries_view matches = held_.matches({wanted.lower, upper});
      if (matched != 0 && matched + matches.size() > most) break;
      matched += matches.size();
      ranges.push_back(wanted);
      expected.push_back(matches);
    }
    const placed_ranges placed(where_.at(), case_, ranges, one.points);
    const asked_batch batch{one.fails, ranges, placed.view(), std::move(expected)};
    if (one.threads == 1) return answer_all(0, one, batch);
    where_.at().synchronize();
    std::vector<std::future<void>> threads;
    for (unsigned thread = 0; thread < one.threads; ++thread)
      threads.push_back(
          std::async(std::launch::async, [&, thread] { answer_all(thread, one, batch); }));
    for (auto& thread : threads)
      thread.get();
  }

  void answer_all(unsigned thread, const step& one, const asked_batch& batch) {
    const session& at = where_.at(thread);
    const context with{memory_, context(at).stream};
    for (const answer wanted : one.answers) {
      switch (wanted) {
        case answer::first:
          rows_format_.width == 4 ? first<std::uint32_t>(at, with, batch)
                                  : first<std::uint64_t>(at, with, batch);
          break;
        case answer::count:
          count(at, with, batch);
          break;
        case answer::sum:
          sum(at, with, batch);
          break;
        case answer::sum_of_values:
          sum_of_values(at, with, batch, one.summed);
          break;
        case answer::ranks:
          ranks(at, with, batch);
          rows_format_.width == 4 ? closest<std::uint32_t>(at, with, batch)
                                  : closest<std::uint64_t>(at, with, batch);
          break;
        case answer::offsets:
          rows_format_.width == 4 ? offsets<std::uint32_t>(at, with, batch)
                                  : offsets<std::uint64_t>(at, with, batch);
          break;
        default:
          rows_format_.width == 4 ? rows<std::uint32_t>(at, with, batch)
                                  : rows<std::uint64_t>(at, with, batch);
      }
    }
  }

  // What a failed comparison says.
  template <class Got, class Expected>
  void compare(const char* what, const asked_batch& batch, std::size_t i, const Got& got,
               const Expected& expected) const {
    if (got == expected) return;
    const range& asked = batch.ranges[i];
    const auto end = [&](const cell& one) { return to_text(case_.key, one); };
    throw disagreement(fmt::format(
        "{} of {}: {}, expected {}", what,
        batch.view.is_points ? end(asked.lower)
                             : fmt::format("[{}, {}]", end(asked.lower), end(asked.upper)),
        got, expected));
  }

  // Makes the index answer into an array, and compares that with what the matches should give.
  template <class Out, class Call, class Expected>
  void compare_answers(const char* what, const session& at, const asked_batch& batch, Call&& call,
                       Expected&& expected) {
    buffer<Out> out(at, batch.ranges.size());
    const std::span span(out.data(), out.size());
    query(memory_, batch.fails, [&] { call(span); });
    const std::vector<Out> got = at.download(out);
    for (std::size_t i = 0; i < got.size(); ++i)
      compare(what, batch, i, got[i], static_cast<Out>(expected(batch.expected[i])));
  }

  template <class RowId>
  void first(const session& at, const context& with, const asked_batch& batch) {
    compare_answers<RowId>(
        "first", at, batch, [&](auto out) { index_->first(with, batch.view, out); },
        [](entries_view matches) {
          std::uint64_t smallest = not_found<RowId>;
          for (const auto& one : matches)
            smallest = std::min(smallest, one.row);
          return smallest;
        });
  }
  void count(const session& at, const context& with, const asked_batch& batch) {
    compare_answers<std::uint64_t>(
        "count", at, batch, [&](auto out) { index_->count(with, batch.view, out); },
        [](entries_view matches) { return matches.size(); });
  }
  void sum(const session& at, const context& with, const asked_batch& batch) {
    compare_answers<std::uint64_t>(
        "sum", at, batch, [&](auto out) { index_->sum(with, batch.view, out); },
        [](entries_view matches) {
          std::uint64_t sum = 0;
          for (const auto& one : matches)
            sum += one.row;
          return sum;
        });
  }

  void sum_of_values(const session& at, const context& with, const asked_batch& batch,
                     key_type type) {
    const key_format format = format_of_type(type);
    std::vector<cell> cells;
    for (std::uint64_t row = 0; row <= index_->info().max_row_id; ++row)
      cells.push_back(value_at(type, row, case_.masked));
    const placed_column values(at, format, cells, case_.value_cells, false);
    const auto call = [&](auto out) { index_->sum(with, batch.view, values.view(), out); };
    const auto whole = [&](entries_view matches) {
      std::uint64_t sum = 0;
      for (const auto& one : matches) {
        const cell& value = cells[one.row];
        if (value.missing) continue;
        const number exact = number_of(format, value.bits);
        sum += exact < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(exact))
                         : static_cast<std::uint64_t>(exact);
      }
      return sum;
    };
    constexpr const char* what = "sum of values";
    switch (type) {
      case key_type::uint32:
      case key_type::uint64:
        return compare_answers<std::uint64_t>(what, at, batch, call, whole);
      case key_type::int32:
      case key_type::int64:
        return compare_answers<std::int64_t>(what, at, batch, call, whole);
      default:
        return compare_answers<double>(what, at, batch, call, [&](entries_view matches) {
          number sum = 0;
          for (const auto& one : matches)
            if (!cells[one.row].missing) sum += number_of(format, cells[one.row].bits);
          return sum;
        });
    }
  }

  // Where a point's matches begin among all entries, or end.
  std::optional<std::uint64_t> place_of(const asked_batch& batch, std::size_t i, bool past) const {
    if (batch.ranges[i].lower.missing) return std::nullopt;
    const entries_view matches = batch.expected[i];
    const auto begin = static_cast<std::uint64_t>(matches.data() - held_.entries().data());
    return past ? begin + matches.size() : begin;
  }
  void ranks(const session& at, const context& with, const asked_batch& batch) {
    buffer<std::uint64_t> out(at, batch.ranges.size());
    for (const bool past : {false, true}) {
      query(memory_, batch.fails, [&] {
        past ? index_->rank_right(with, batch.view, out) : index_->rank(with, batch.view, out);
      });
      const auto got = at.download(out);
      for (std::size_t i = 0; i < got.size(); ++i)
        compare(past ? "rank_right" : "rank", batch, i, got[i],
                place_of(batch, i, past).value_or(not_found<std::uint64_t>));
    }
  }
  template <class RowId>
  void closest(const session& at, const context& with, const asked_batch& batch) {
    buffer<RowId> out(at, batch.ranges.size());
    for (const bool before : {true, false}) {
      for (const closeness which : {closeness::or_equal, closeness::strict}) {
        query(memory_, batch.fails, [&] {
          before ? index_->predecessor(with, batch.view, out, which)
                 : index_->successor(with, batch.view, out, which);
        });
        const auto got = at.download(out);
        for (std::size_t i = 0; i < got.size(); ++i)
          compare(before ? "predecessor" : "successor", batch, i, got[i],
                  closest_row<RowId>(place_of(batch, i, before != (which == closeness::strict)),
                                     before));
      }
    }
  }
  // The smallest row of the key before a place, or from there on.
  template <class RowId>
  RowId closest_row(const std::optional<std::uint64_t>& place, bool before) const {
    const auto& all = held_.entries();
    if (!place || (before ? *place == 0 : *place == all.size())) return not_found<RowId>;
    std::uint64_t first = before ? *place - 1 : *place;
    while (first > 0 && !is_less(all[first - 1].key, all[first].key))
      --first;
    return static_cast<RowId>(all[first].row);
  }

  template <class RowId>
  void rows(const session& at, const context& with, const asked_batch& batch) {
    std::optional<matches> found;
    query(memory_, batch.fails, [&] { found.emplace(index_->rows(with, batch.view)); });
    compare_offsets(batch, at.download(found->offsets));
    std::vector<RowId> got(found->total);
    at.copy_out(got.data(), found->rows.data(), found->rows.bytes());
    compare_rows(batch, got);
  }
  template <class RowId>
  void offsets(const session& at, const context& with, const asked_batch& batch) {
    buffer<std::uint64_t> offsets(at, batch.ranges.size() + 1);
    const std::span span(offsets.data(), offsets.size());
    query(memory_, batch.fails, [&] { index_->offsets(with, batch.view, span); });
    const std::vector<std::uint64_t> got = at.download(offsets);
    compare_offsets(batch, got);
    buffer<RowId> out(at, got.back());
    const std::span rows(out.data(), out.size());
    query(memory_, batch.fails, [&] { index_->rows(with, batch.view, span, rows); });
    compare_rows(batch, at.download(out));
  }

  void compare_offsets(const asked_batch& batch, const std::vector<std::uint64_t>& got) const {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < batch.expected.size(); ++i) {
      compare("offset", batch, i, got[i], offset);
      offset += batch.expected[i].size();
    }
    require(got.back() == offset, "the last offset is {}, expected {}", got.back(), offset);
  }
  // Rows must lie where they are expected.
  template <class RowId>
  void compare_rows(const asked_batch& batch, const std::vector<RowId>& got) const {
    auto row = got.begin();
    for (std::size_t i = 0; i < batch.expected.size(); ++i)
      for (const auto& match : batch.expected[i])
        compare("a row", batch, i, *row++, static_cast<RowId>(match.row));
  }

  const place& where_;
  const test_case& case_;
  failing_resource memory_;
  key_format rows_format_;
  held_keys held_;
  std::unique_ptr<index> index_;
};

}  // namespace

void try_keys(const place& where, const test_case& tried) {
  key_trial(where, tried).run();
}

}  // namespace raydex::test
