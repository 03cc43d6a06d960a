// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>

#include "tests/random/bits.hpp"
#include "tests/random/oracle.hpp"
#include "tests/random/trial.hpp"

namespace raydex::test {

namespace {

// A batch in the backend's memory, and the positions of its minima, or maxima.
struct asked_batch {
  const fault& fails;
  const probes& view;
  const std::vector<range>& ranges;
  const std::vector<std::optional<std::uint64_t>>& expected;
};

class minima_trial {
 public:
  minima_trial(const place& where, const test_case& tried)
      : where_(where),
        case_(tried),
        memory_(context(where.at()).memory),
        cells_(tried.keys),
        array_(where.at(), tried.key, tried.keys, tried.key_cells, false) {
    for (const cell& one : cells_)
      values_.push_back(number_of(tried.key, one.bits));
    const auto says = [&](const char* option, const char* word) {
      const auto given = tried.options.find(option);
      return given != tried.options.end() && given->second == word;
    };
    rightmost_ = says("ties", "rightmost");
    largest_ = says("extreme", "maximum");
  }

  void run() {
    do_part("build", [&] { build(); });
    for (std::size_t i = 0; i < case_.steps.size(); ++i) {
      const step& one = case_.steps[i];
      do_part(fmt::format("step {}", i + 1),
              [&] { one.what == action::refresh ? refresh(one) : ask(one); });
    }
    if (where_.tested().where == backend::cpu) {
      const std::uint64_t repaired = repairs(*built_, own().stream);
      require(repaired == 0, "{} lookups were repaired", repaired);
    }
    built_.reset();
    require(memory_.held() == 0, "{} bytes leak", memory_.held());
  }

 private:
  context own() { return {memory_, context(where_.at()).stream}; }

  void build() {
    const auto call = [&] {
      built_ =
          build_rmq(case_.structure, where_.tested().where, own(), array_.view(), case_.options);
    };
    if (survives(memory_, case_.build_fails, call)) return;
    require(memory_.held() == 0, "a failed build leaks {} bytes", memory_.held());
    call();
  }

  void refresh(const step& one) {
    // What lies beyond the array has not changed.
    std::vector<cell> positions;
    for (const cell& changed : one.put) {
      positions.push_back({bits_of(case_.position, changed.row)});
      const number at = number_of(case_.position, positions.back().bits);
      if (at < 0 || at >= static_cast<number>(cells_.size())) continue;
      const auto i = static_cast<std::size_t>(at);
      cells_[i].bits = changed.bits;
      values_[i] = number_of(case_.key, changed.bits);
    }
    // The array stays where it is.
    std::vector<std::byte> bytes(cells_.size() * case_.key.width);
    for (std::size_t i = 0; i < cells_.size(); ++i)
      std::memcpy(bytes.data() + i * case_.key.width, &cells_[i].bits, case_.key.width);
    where_.at().copy_in(const_cast<void*>(array_.view().data), bytes.data(), bytes.size());
    const placed_column changed(where_.at(), case_.position, positions, case_.probe_cells, false);
    const auto call = [&] { built_->refresh(own().stream, changed.view()); };
    if (!survives(memory_, one.fails, call)) call();
  }

  void ask(const step& one) {
    // A batch ends before the oracle would take long.
    constexpr std::size_t most = 3'000'000;
    std::vector<range> ranges(one.ranges);
    ranges.resize(std::min(ranges.size(), most / (cells_.size() + 1) + 1));
    std::vector<std::optional<std::uint64_t>> expected;
    for (const range& wanted : ranges)
      expected.push_back(extreme_of(values_, case_.position, wanted, rightmost_, largest_));
    const placed_ranges placed(where_.at(), case_, ranges, false);
    const asked_batch batch{one.fails, placed.view(), ranges, expected};
    const auto answer_all = [&](unsigned thread) {
      for (const answer wanted : one.answers) {
        if (wanted == answer::minimum) minima(thread, batch);
        if (wanted == answer::position) positions(thread, batch);
        if (wanted == answer::check) check(thread, batch);
      }
    };
    if (one.threads == 1) return answer_all(0);
    where_.at().synchronize();
    std::vector<std::future<void>> threads;
    for (unsigned thread = 0; thread < one.threads; ++thread)
      threads.push_back(std::async(std::launch::async, [&, thread] { answer_all(thread); }));
    for (auto& thread : threads)
      thread.get();
  }

  context with(unsigned thread) { return {memory_, context(where_.at(thread)).stream}; }

  std::string to_text(const range& asked) const {
    return fmt::format("[{}, {}]", test::to_text(case_.position, asked.lower),
                       test::to_text(case_.position, asked.upper));
  }

  void minima(unsigned thread, const asked_batch& batch) {
    const auto& ranges = batch.ranges;
    const session& at = where_.at(thread);
    const std::size_t width = case_.key.width;
    buffer<std::byte> out(at, ranges.size() * width);
    const value_span span(case_.key, out.data(), ranges.size());
    query(memory_, batch.fails, [&] {
      largest_ ? built_->maximum(with(thread), batch.view, span)
               : built_->minimum(with(thread), batch.view, span);
    });
    const auto bytes = at.download(out);
    // An empty range gives the last value in the order; of maxima the smallest, but NaN if it can
    // be.
    const auto extremes = extremes_of(case_.key);
    const number largest = number_of(case_.key, extremes.back());
    const bool is_first = largest_ && !std::isnan(largest);
    const number last = is_first ? number_of(case_.key, extremes.front()) : largest;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * width, width);
      const number got = number_of(case_.key, bits);
      const number wanted = batch.expected[i] ? values_[*batch.expected[i]] : last;
      if (is_equal(got, wanted) && !(got == 0 && std::signbit(got))) continue;
      throw disagreement(
          fmt::format("extreme of {}: {}, expected {}", to_text(ranges[i]), got, wanted));
    }
  }

  void positions(unsigned thread, const asked_batch& batch) {
    const auto& ranges = batch.ranges;
    const session& at = where_.at(thread);
    buffer<std::uint64_t> out(at, ranges.size());
    const std::span span(out.data(), out.size());
    query(memory_, batch.fails, [&] { built_->position(with(thread), batch.view, span); });
    const auto got = at.download(out);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::uint64_t wanted = batch.expected[i].value_or(no_position);
      if (got[i] == wanted) continue;
      throw disagreement(fmt::format("position of the extreme of {}: {}, expected {}",
                                     to_text(ranges[i]), got[i], wanted));
    }
  }

  // The error must name the first range that is not within the array.
  void check(unsigned thread, const asked_batch& batch) {
    const auto& ranges = batch.ranges;
    std::size_t bad = 0;
    while (bad < ranges.size() && is_within(cells_.size(), case_.position, ranges[bad]))
      ++bad;
    try {
      query(memory_, batch.fails, [&] { built_->check(with(thread), batch.view); });
    } catch (const invalid_argument& e) {
      const std::string text = e.what();
      require(bad != ranges.size() && text.find(fmt::format("range {} is", bad)) != text.npos,
              "check says '{}', and the first bad range is {} of {}", text, bad, ranges.size());
      return;
    }
    if (bad != ranges.size())
      throw disagreement(fmt::format("check accepts {}", to_text(ranges[bad])));
  }

  const place& where_;
  const test_case& case_;
  failing_resource memory_;
  std::vector<cell> cells_;
  std::vector<number> values_;
  placed_column array_;
  bool rightmost_ = false;
  bool largest_ = false;
  std::unique_ptr<rmq> built_;
};

}  // namespace

void try_minima(const place& where, const test_case& tried) {
  minima_trial(where, tried).run();
}

}  // namespace raydex::test
