// SPDX-License-Identifier: Apache-2.0
// Has the library make the joins of a case, and compares what it gives with the right answers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include "tests/random/bits.hpp"
#include "tests/random/join_oracle.hpp"
#include "tests/random/trial.hpp"

namespace raydex::test {

namespace {

// Strings in the backend's memory. Missing ones have bytes, too, and others lie in front.
class placed_strings {
 public:
  placed_strings(const session& at, const std::vector<cell>& cells, const placing& lie,
                 bool masked) {
    const bool wide = lie.stride != 1;
    std::string all = "..";
    std::vector<std::uint64_t> offsets{all.size()};
    bool any_missing = masked;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      all += string_of(cells[i]);
      offsets.push_back(all.size());
      any_missing = any_missing || cells[i].missing;
    }
    bytes_ = at.upload(all);
    if (wide) {
      wide_ = at.upload(offsets);
    } else {
      narrow_ = at.upload(std::vector<std::uint32_t>(offsets.begin(), offsets.end()));
    }
    if (any_missing) bits_ = at.upload(bitmap(cells, first_bit_of(lie)));
    view_.bytes = bytes_.data();
    view_.offsets = wide ? static_cast<const void*>(wide_.data()) : narrow_.data();
    view_.wide_offsets = wide;
    view_.size = cells.size();
    view_.validity = {bits_.data(), first_bit_of(lie)};
  }
  const string_column& view() const { return view_; }

 private:
  buffer<char> bytes_;
  buffer<std::uint32_t> narrow_;
  buffer<std::uint64_t> wide_;
  buffer<std::uint8_t> bits_;
  string_column view_;
};

// A table in the backend's memory.
class placed_rows {
 public:
  placed_rows(const session& at, const test_case& of, const std::vector<table_row>& rows,
              const placing& lie, bool are_probes) {
    const auto column_of = [&](auto&& cell_of) {
      std::vector<cell> cells;
      for (const table_row& row : rows)
        cells.push_back(cell_of(row));
      return cells;
    };
    const join_case& join = *of.joins;
    first_.emplace(at, of.key, column_of([](const table_row& row) { return row.first; }), lie,
                   of.masked);
    second_.emplace(at, of.second(are_probes),
                    column_of([](const table_row& row) { return row.second; }), of.value_cells,
                    of.masked);
    for (std::size_t i = 0; i < join.by.size(); ++i) {
      const auto cells = column_of([&](const table_row& row) { return row.by[i]; });
      if (join.by[i]) {
        numbers_.push_back(std::make_unique<placed_column>(at, *join.by[i], cells, lie, of.masked));
        by_.emplace_back(numbers_.back()->view());
      } else {
        strings_.push_back(std::make_unique<placed_strings>(at, cells, lie, of.masked));
        by_.emplace_back(strings_.back()->view());
      }
    }
    keys_ = by_.empty() ? key_parts{first()} : by_;
  }
  const column& first() const { return first_->view(); }
  const column& second() const { return second_->view(); }
  const key_parts& by() const { return by_; }
  // The columns of an equi join.
  const key_parts& keys() const { return keys_; }

 private:
  std::optional<placed_column> first_;
  std::optional<placed_column> second_;
  std::vector<std::unique_ptr<placed_column>> numbers_;
  std::vector<std::unique_ptr<placed_strings>> strings_;
  key_parts by_;
  key_parts keys_;
};

class join_trial {
 public:
  join_trial(const place& where, const test_case& tried)
      : where_(where),
        case_(tried),
        join_(*tried.joins),
        memory_(context(where.at()).memory),
        build_(where.at(), tried, join_.build, tried.key_cells, false),
        oracle_(tried) {
    for (const table_row& row : join_.build)
      values_.push_back(number_of(join_.second, row.second.bits));
  }

  void run() {
    do_part("build", [&] { build(); });
    for (std::size_t i = 0; i < join_.questions.size(); ++i) {
      const join_question& one = join_.questions[i];
      do_part(fmt::format("question {}", i + 1), [&] { ask(one); });
    }
    forget();
    require(memory_.held() == 0, "{} bytes leak", memory_.held());
  }

 private:
  bool is(const char* name) const { return case_.structure == name; }
  context with(unsigned thread) { return {memory_, context(where_.at(thread)).stream}; }

  void forget() {
    equi_.reset();
    asof_.reset();
    ranges_.reset();
    intervals_.reset();
    inequalities_.reset();
    windows_.reset();
    nearest_.reset();
    covered_.reset();
  }

  void build() {
    if (survives(memory_, case_.build_fails, [&] { build_once(); })) return;
    require(memory_.held() == 0, "a failed build leaks {} bytes", memory_.held());
    build_once();
  }
  void build_once() {
    const backend where = where_.tested().where;
    const context own = with(0);
    if (is("equi_join")) {
      equi_ = build_join(where, own, build_.keys(),
                         {.structure = join_.structure,
                          .missing_equal = join_.missing_equal,
                          .seed = join_.hash_seed});
    } else if (is("asof_join")) {
      asof_ = build_asof_join(where, own, build_.first(), build_.by());
    } else if (is("range_join")) {
      ranges_ = build_range_join(where, own, build_.first(), build_.by());
    } else if (is("interval_join")) {
      intervals_ = build_interval_join(where, own, build_.first(), build_.second(), build_.by(),
                                       join_.closed);
    } else if (is("inequality_join")) {
      inequalities_ = build_inequality_join(where, own, {build_.first(), join_.first},
                                            {build_.second(), join_.other}, build_.by());
    } else if (is("nearest_join")) {
      nearest_ = build_nearest_join(where, own, build_.first(), build_.second(), build_.by());
    } else if (is("interval_coverage")) {
      covered_ = build_interval_coverage(where, own, build_.first(), build_.second(), build_.by());
    } else {
      std::optional<column> values;
      if (join_.values) values = build_.second();
      windows_ = build_window_join(where, own, build_.first(), build_.by(), values,
                                   {join_.sums, join_.minima, join_.maxima});
    }
  }

  // ---- questions

  void ask(const join_question& one) {
    const placed_rows probes(where_.at(), case_, one.probes, case_.probe_cells, true);
    const auto answer = [&](unsigned thread, const auto& expected) {
      if constexpr (std::is_same_v<decltype(expected), const walked_rows&>) {
        is("window_join") ? windows(thread, one, probes, expected)
                          : rows(thread, one, probes, expected);
      } else {
        closest(thread, one, probes, expected);
      }
    };
    if (one.how == matching::nearest) {
      const auto expected = oracle_.nearest(one);
      return in_threads(
          one, [&](unsigned thread, const auto& all) { nearest(thread, one, probes, all); },
          expected);
    }
    if (one.how == matching::covered) {
      const auto expected = oracle_.covered(one);
      return in_threads(
          one, [&](unsigned thread, const auto& all) { covered(thread, one, probes, all); },
          expected);
    }
    is("asof_join") ? in_threads(one, answer, oracle_.closest(one))
                    : in_threads(one, answer, oracle_.rows(one));
  }
  template <class Answer, class Expected>
  void in_threads(const join_question& one, const Answer& answer, const Expected& expected) {
    if (one.threads == 1) return answer(0, expected);
    where_.at().synchronize();
    std::vector<std::future<void>> threads;
    for (unsigned thread = 0; thread < one.threads; ++thread)
      threads.push_back(std::async(std::launch::async, [&, thread] { answer(thread, expected); }));
    for (auto& thread : threads)
      thread.get();
  }

  // Makes a call that may fail, and repeats it then. What is built when it is first asked for may
  // stay.
  template <class Call>
  void repeated(const fault& fails, Call&& call) {
    if (!survives(memory_, fails, call)) call();
  }

  std::unique_ptr<joined> match(unsigned thread, const join_question& one,
                                const placed_rows& probes) {
    const context on = with(thread);
    const column& first = probes.first();
    const column& second = probes.second();
    const raydex::probes batch =
        one.how == matching::ranges ? raydex::ranges(first, second) : raydex::points(first);
    if (is("inequality_join"))
      return inequalities_->match(on, first, second, probes.by(), one.kind);
    if (is("nearest_join"))
      return nearest_->match_ties(on, first, second, probes.by(), how_near(one), one.kind);
    const matches_taken which = one.first ? matches_taken::first : matches_taken::all;
    if (is("interval_join")) {
      if (one.how == matching::points)
        return intervals_->match(on, first, probes.by(), one.kind, which);
      return intervals_->match(on, first, second, probes.by(), one.relation, one.kind, which);
    }
    if (is("range_join")) {
      if (one.how == matching::band)
        return ranges_->match_band(on, first, one.before->value(), probes.by(), one.kind);
      if (one.how == matching::compared)
        return ranges_->match_compared(on, first, one.compared, probes.by(), one.kind);
      return ranges_->match(on, batch, probes.by(), one.kind);
    }
    if (one.how == matching::equal) {
      // Some threads join the tables once, beside those that ask the index.
      if (join_.structure != "auto" || thread % 2 != 0)
        return equi_->match(on, probes.keys(), one.kind);
      return match_tables(where_.tested().where, on, build_.keys(), probes.keys(), one.kind,
                          {.missing_equal = join_.missing_equal, .seed = join_.hash_seed});
    }
    if (one.how == matching::band)
      return equi_->match_band(on, first, one.before->value(), one.kind);
    if (one.how == matching::compared)
      return equi_->match_compared(on, first, one.compared, one.kind);
    return equi_->match(on, batch, one.kind);
  }

  void rows(unsigned thread, const join_question& one, const placed_rows& probes,
            const walked_rows& found) {
    const joined_pairs expected = pairs_of(found, one.kind, join_.build.size());
    std::unique_ptr<joined> got;
    repeated(one.fails, [&] { got = match(thread, one, probes); });
    require(got->kind() == one.kind, "kind is {}", to_string(got->kind()));
    require(got->probes() == found.size(), "probes is {}", got->probes());
    require(got->unmatched() == expected.unmatched, "unmatched is {}, expected {}",
            got->unmatched(), expected.unmatched);
    const session& at = where_.at(thread);
    buffer<std::uint64_t> counts(at, found.size());
    repeated(one.fails, [&] { got->counts(with(thread), counts); });
    compare("rows", at.download(counts), expected.counts);
    require(got->size() == expected.probes.size(), "size is {}, expected {}", got->size(),
            expected.probes.size());
    const std::uint64_t size = got->size();
    const std::uint64_t first = one.part % (size + 1);
    const std::uint64_t some = (one.part >> 32) % (size - first + 1);
    if (one.wide) {
      write<std::uint64_t>(thread, one, *got, expected, 0, size);
      write<std::uint64_t>(thread, one, *got, expected, first, some);
    } else {
      write<std::uint32_t>(thread, one, *got, expected, 0, size);
      write<std::uint32_t>(thread, one, *got, expected, first, some);
    }
  }

  // Compares rows of a join from number `first` on.
  template <class Row>
  void write(unsigned thread, const join_question& one, const joined& tested,
             const joined_pairs& expected, std::uint64_t first, std::uint64_t size) {
    const session& at = where_.at(thread);
    const bool pairs = one.kind != join_kind::semi && one.kind != join_kind::anti;
    buffer<Row> probe_rows(at, size);
    buffer<Row> build_rows(at, pairs ? size : 0);
    const gather_maps out(row_id_span(probe_rows).type, probe_rows.data(),
                          pairs ? build_rows.data() : nullptr, size);
    repeated(one.fails, [&] { tested.rows(with(thread), first, out); });
    const auto part = [&](const std::vector<std::uint64_t>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      std::vector<Row> some;
      std::transform(begin, begin + static_cast<std::ptrdiff_t>(size), std::back_inserter(some),
                     [](std::uint64_t row) { return static_cast<Row>(row); });
      return some;
    };
    compare("probe row", at.download(probe_rows), part(expected.probes));
    if (pairs) compare("build row", at.download(build_rows), part(expected.builds));
  }

  template <class T>
  void compare(const char* what, const std::vector<T>& got, const std::vector<T>& expected) const {
    const auto [at, wanted] =
        std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
    if (at == got.end() && wanted == expected.end()) return;
    require(got.size() == expected.size(), "{} of {}, expected {}", what, got.size(),
            expected.size());
    throw disagreement(fmt::format("{} {}: {}, expected {}", what, at - got.begin(), *at, *wanted));
  }

  void closest(unsigned thread, const join_question& one, const placed_rows& probes,
               const std::vector<std::uint64_t>& expected) {
    asof_options how{.direction = one.direction, .which = one.which};
    if (one.before) how.tolerance = one.before->value();
    write_rows(thread, one, expected, [&](const row_id_span& out) {
      asof_->match(with(thread), probes.first(), probes.by(), how, out);
    });
  }
  template <class Call>
  void write_rows(unsigned thread, const join_question& one,
                  const std::vector<std::uint64_t>& expected, const Call& call) {
    one.wide ? write_rows_of<std::uint64_t>(thread, one, expected, call)
             : write_rows_of<std::uint32_t>(thread, one, expected, call);
  }
  template <class Row, class Call>
  void write_rows_of(unsigned thread, const join_question& one,
                     const std::vector<std::uint64_t>& expected, const Call& call) {
    buffer<Row> out(where_.at(thread), expected.size());
    repeated(one.fails, [&] { call(row_id_span(out)); });
    std::vector<Row> wanted;
    for (const std::uint64_t row : expected)
      wanted.push_back(static_cast<Row>(row));
    compare("row", where_.at(thread).download(out), wanted);
  }

  // ---- intervals

  static nearest_options how_near(const join_question& one) {
    return {.count = one.count,
            .overlaps = one.overlaps,
            .before = one.direction != asof_direction::forward,
            .after = one.direction != asof_direction::backward};
  }

  void nearest(unsigned thread, const join_question& one, const placed_rows& probes,
               const std::vector<std::vector<walked_join::neighbour>>& expected) {
    const bool real = case_.key.type == key_type::float32 || case_.key.type == key_type::float64;
    std::vector<std::uint64_t> rows;
    for (const auto& all : expected) {
      for (std::size_t k = 0; k < one.count; ++k)
        rows.push_back(k < all.size() ? all[k].row : no_row);
    }
    buffer<std::uint64_t> distances(where_.at(thread), rows.size());
    write_rows(thread, one, rows, [&](const row_id_span& out) {
      const auto ask = [&]<class Distance>(Distance* apart) {
        nearest_->match(with(thread), probes.first(), probes.second(), probes.by(), how_near(one),
                        out, std::span(apart, rows.size()));
      };
      real ? ask(reinterpret_cast<double*>(distances.data())) : ask(distances.data());
    });
    const auto got = where_.at(thread).download(distances);
    const key_format format = real ? format_of<double> : format_of<std::uint64_t>;
    const number far = real ? std::numeric_limits<number>::quiet_NaN() : 0x1p64L - 1;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto& all = expected[i / one.count];
      const number wanted = i % one.count < all.size() ? all[i % one.count].apart : far;
      const number apart = number_of(format, got[i]);
      require(is_equal(apart, wanted), "distance {}: {}, expected {}", i, apart, wanted);
    }
  }

  void covered(unsigned thread, const join_question& one, const placed_rows& probes,
               const std::vector<number>& expected) {
    const auto got = asked<std::uint64_t>(thread, one, expected.size(), [&](auto& out) {
      covered_->match(with(thread), probes.first(), probes.second(), probes.by(),
                      std::span(out.data(), out.size()));
    });
    for (std::size_t i = 0; i < got.size(); ++i) {
      const number wanted = std::isinf(expected[i]) ? 0x1p64L - 1 : expected[i];
      require(static_cast<number>(got[i]) == wanted, "length of {}: {}, expected {}", i, got[i],
              wanted);
    }
  }

  // ---- windows

  // A number of each window, as the values that a call wrote.
  template <class T, class Call>
  std::vector<T> asked(unsigned thread, const join_question& one, std::size_t size,
                       const Call& call) {
    buffer<T> out(where_.at(thread), size);
    repeated(one.fails, [&] { call(out); });
    return where_.at(thread).download(out);
  }

  void windows(unsigned thread, const join_question& one, const placed_rows& probes,
               const walked_rows& found) {
    time_window window;
    if (one.before) window = {one.before->value(), one.after->value(), one.closed};
    std::unique_ptr<windowed> got;
    repeated(one.fails, [&] {
      const context on = with(thread);
      if (one.how == matching::ranges) {
        got = windows_->match(on, raydex::ranges(probes.first(), probes.second()), probes.by());
      } else if (one.how == matching::own_windows) {
        got = windows_->match_own(on, build_.first(), build_.by(), window);
      } else {
        got = windows_->match(on, probes.first(), probes.by(), window);
      }
    });
    require(got->size() == found.size(), "windows of {}", got->size());
    for (const aggregated which : one.aggregates) {
      do_part(fmt::format("aggregate {}", static_cast<int>(which)),
              [&] { aggregate(thread, one, *got, found, which); });
    }
  }

  void aggregate(unsigned thread, const join_question& one, const windowed& got,
                 const walked_rows& found, aggregated which) {
    const context on = with(thread);
    const auto rows = [&](auto call, auto&& row_of) {
      std::vector<std::uint64_t> expected;
      for (const auto& window : found)
        expected.push_back(window.empty() ? no_row : row_of(window));
      write_rows(thread, one, expected, [&](const row_id_span& out) { (got.*call)(on, out); });
    };
    const auto front = [](const auto& window) { return window.front(); };
    const auto back = [](const auto& window) { return window.back(); };
    const auto smallest = [&](const auto& window) { return extreme(window, false); };
    const auto largest = [&](const auto& window) { return extreme(window, true); };
    switch (which) {
      case aggregated::count: {
        std::vector<std::uint64_t> expected;
        for (const auto& window : found)
          expected.push_back(window.size());
        return compare(
            "count",
            asked<std::uint64_t>(thread, one, found.size(), [&](auto& out) { got.count(on, out); }),
            expected);
      }
      case aggregated::first_row:
        return rows(&windowed::first_row, front);
      case aggregated::last_row:
        return rows(&windowed::last_row, back);
      case aggregated::argmin:
        return rows(&windowed::argmin, smallest);
      case aggregated::argmax:
        return rows(&windowed::argmax, largest);
      case aggregated::minimum:
        return values(thread, one, got, &windowed::minimum, found, false, smallest);
      case aggregated::maximum:
        return values(thread, one, got, &windowed::maximum, found, true, largest);
      case aggregated::first:
        return values(thread, one, got, &windowed::first, found, false, front);
      case aggregated::last:
        return values(thread, one, got, &windowed::last, found, false, back);
      case aggregated::sum:
        return sums(thread, one, got, found);
      case aggregated::mean:
        return means(thread, one, got, found);
    }
  }

  number value_at(std::uint64_t row) const { return values_[row]; }
  std::uint64_t extreme(const std::vector<std::uint64_t>& window, bool largest) const {
    std::uint64_t best = window.front();
    for (const std::uint64_t row : window) {
      if (largest ? is_less(value_at(best), value_at(row)) : is_less(value_at(row), value_at(best)))
        best = row;
    }
    return best;
  }

  // Of no row: NaN, or else the largest number, of a maximum the smallest.
  number value_of_nothing(bool largest) const {
    const auto extremes = extremes_of(join_.second);
    const number last = number_of(join_.second, extremes.back());
    return largest && !std::isnan(last) ? number_of(join_.second, extremes.front()) : last;
  }

  template <class Call, class RowOf>
  void values(unsigned thread, const join_question& one, const windowed& got, Call call,
              const walked_rows& found, bool largest, const RowOf& row_of) {
    const std::size_t width = join_.second.width;
    const auto bytes = asked<std::byte>(thread, one, found.size() * width, [&](auto& out) {
      (got.*call)(with(thread), value_span(join_.second, out.data(), found.size()));
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * width, width);
      const number value = number_of(join_.second, bits);
      const number wanted =
          found[i].empty() ? value_of_nothing(largest) : value_at(row_of(found[i]));
      require(is_equal(value, wanted) && !(value == 0 && std::signbit(value)),
              "window {}: {}, expected {}", i, value, wanted);
    }
  }

  void sums(unsigned thread, const join_question& one, const windowed& got,
            const walked_rows& found) {
    const auto as_asked = [&]<class T>(T) {
      const auto sums =
          asked<T>(thread, one, found.size(), [&](auto& out) { got.sum(with(thread), out); });
      for (std::size_t i = 0; i < found.size(); ++i) {
        T wanted = 0;
        for (const std::uint64_t row : found[i])
          wanted = added(wanted, value_at(row));
        require(is_equal(static_cast<number>(sums[i]), static_cast<number>(wanted)),
                "sum of window {}: {}, expected {}", i, sums[i], wanted);
      }
    };
    switch (join_.second.type) {
      case key_type::uint32:
      case key_type::uint64:
        return as_asked(std::uint64_t{});
      case key_type::int32:
      case key_type::int64:
        return as_asked(std::int64_t{});
      default:
        return as_asked(double{});
    }
  }
  static double added(double sum, number value) { return sum + static_cast<double>(value); }
  static std::uint64_t added(std::uint64_t sum, number value) {
    return sum + static_cast<std::uint64_t>(value);
  }
  static std::int64_t added(std::int64_t sum, number value) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                     static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }

  void means(unsigned thread, const join_question& one, const windowed& got,
             const walked_rows& found) {
    const auto means =
        asked<double>(thread, one, found.size(), [&](auto& out) { got.mean(with(thread), out); });
    for (std::size_t i = 0; i < found.size(); ++i) {
      // Both halves are exact.
      constexpr number half = 0x1p32L;
      number upper = 0;
      number lower = 0;
      for (const std::uint64_t row : found[i]) {
        const number value = value_at(row);
        if (!std::isfinite(value)) {
          upper += value;
          continue;
        }
        upper += std::floor(value / half);
        lower += value - std::floor(value / half) * half;
      }
      const number wanted = (upper * half + lower) / static_cast<number>(found[i].size());
      const auto mean = static_cast<number>(means[i]);
      require(is_equal(mean, wanted) || std::abs(mean - wanted) <= 1e-14L * std::abs(wanted),
              "mean of window {}: {}, expected {}", i, mean, wanted);
    }
  }

  const place& where_;
  const test_case& case_;
  const join_case& join_;
  failing_resource memory_;
  placed_rows build_;
  walked_join oracle_;
  std::vector<number> values_;  // of the second column
  std::unique_ptr<raydex::join> equi_;
  std::unique_ptr<asof_join> asof_;
  std::unique_ptr<range_join> ranges_;
  std::unique_ptr<interval_join> intervals_;
  std::unique_ptr<inequality_join> inequalities_;
  std::unique_ptr<window_join> windows_;
  std::unique_ptr<nearest_join> nearest_;
  std::unique_ptr<interval_coverage> covered_;
};

}  // namespace

void try_joins(const place& where, const test_case& tried) {
  join_trial(where, tried).run();
}

}  // namespace raydex::test
