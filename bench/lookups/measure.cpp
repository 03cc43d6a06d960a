// SPDX-License-Identifier: Apache-2.0
// Builds, asks, times and checks.
#include "bench/lookups/measure.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "bench/machine/median.hpp"
#include "bench/workloads/keys/key_span.hpp"
#include "files/wall_clock.hpp"
#include "raydex/rx.hpp"

namespace raydex::bench {
namespace {

// All batches of a workload with the memory for their answers.
class interview {
 public:
  interview(machine& here, const generated& data, result asked, const index& who)
      : machine_(&here),
        data_(&data),
        asked_(asked),
        index_(&who),
        memory_(context(here.on()).memory) {
    const workload& what = data.description();
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < what.batches; ++i) {
      const std::uint64_t size = what.probes / what.batches + (i < what.probes % what.batches);
      batches_.push_back({begin, size, 0, 0});
      begin += size;
    }
    const context memory = here.on();
    if (asked == result::rows) {
      // Each batch has its own offsets, one more than probes; how many rows they lead to is learnt
      // beforehand, so that the timed runs need no allocation.
      offsets_ = buffer<std::uint64_t>(memory, what.probes + what.batches);
      std::uint64_t total = 0;
      for (std::uint64_t i = 0; i < batches_.size(); ++i) {
        batch& b = batches_[i];
        who.offsets(memory, probes_of(b), offsets_of(i));
        here.on().copy_out(&b.rows, offsets_of(i).data() + b.size, sizeof b.rows);
        b.first_row = total;
        total += b.rows;
      }
      values_ = buffer<std::byte>(memory, saturated_product(total, row_bytes()));
    } else {
      values_ = buffer<std::byte>(memory, what.probes * value_bytes());
    }
    here.poison(values_.data(), values_.bytes());
    here.poison(offsets_.data(), offsets_.bytes());
  }

  // Queues all batches.
  void ask() {
    const context work{memory_, context(machine_->on()).stream};
    for (std::uint64_t i = 0; i < batches_.size(); ++i) {
      const batch& b = batches_[i];
      const probes asked = probes_of(b);
      if (asked_ == result::first) {
        index_->first(work, asked, {index_->info().row_ids, values_of(b), b.size});
      } else if (asked_ == result::count) {
        index_->count(work, asked, numbers_of(b));
      } else if (asked_ == result::sum) {
        index_->sum(work, asked, numbers_of(b));
      } else {
        index_->offsets(work, asked, offsets_of(i));
        index_->rows(work, asked, offsets_of(i), {index_->info().row_ids, values_of(b), b.rows});
      }
    }
  }

  // The most memory that the index took for it at once.
  std::uint64_t peak_bytes() const { return memory_.peak(); }

  // Counts the wrong answers of the last time.
  std::uint64_t count_wrong() {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < batches_.size(); ++i) {
      const batch& b = batches_[i];
      const probes asked = probes_of(b);
      answered_batch answered;
      answered.asked = asked_;
      answered.key_bits = data_->description().key_bits;
      answered.row_id_bits = static_cast<int>(8 * row_bytes());
      answered.size = b.size;
      answered.lower = asked.lower.data;
      answered.upper = asked.upper.data;
      answered.values = values_of(b);
      if (asked_ == result::rows) answered.offsets = offsets_of(i).data();
      answered.total = b.rows;
      wrong += machine_->count_wrong(data_->set(), answered);
    }
    return wrong;
  }

 private:
  struct batch {
    std::uint64_t begin;
    std::uint64_t size;
    std::uint64_t first_row;
    std::uint64_t rows;
  };

  std::uint64_t row_bytes() const { return index_->info().row_ids == row_id_type::uint32 ? 4 : 8; }
  std::uint64_t value_bytes() const {
    return asked_ == result::first || asked_ == result::rows ? row_bytes() : 8;
  }
  probes probes_of(const batch& b) const { return data_->batch(b.begin, b.size); }
  std::span<std::uint64_t> offsets_of(std::uint64_t i) {
    return {offsets_.data() + batches_[i].begin + i, batches_[i].size + 1};
  }
  void* values_of(const batch& b) {
    const std::uint64_t at = asked_ == result::rows ? b.first_row : b.begin;
    return at == 0 ? values_.data() : values_.data() + at * value_bytes();
  }
  std::span<std::uint64_t> numbers_of(const batch& b) {
    return {static_cast<std::uint64_t*>(values_of(b)), b.size};
  }

  machine* machine_;
  const generated* data_;
  result asked_;
  const index* index_;
  tracking_resource memory_;  // of lookups
  std::vector<batch> batches_;
  buffer<std::uint64_t> offsets_;
  buffer<std::byte> values_;
};

struct answered {
  double ms;
  std::uint64_t peak_bytes;
  std::uint64_t repairs;
  std::uint64_t wrong;
};

answered ask(machine& here, const generated& data, result asked, const index& who,
             int repetitions) {
  stream_t stream = context(here.on()).stream;
  const std::uint64_t repaired = who.repairs(stream);
  interview talk(here, data, asked, who);
  const double ms = median_of(repetitions, [&] { return here.milliseconds([&] { talk.ask(); }); });
  return {ms, talk.peak_bytes(), who.repairs(stream) - repaired, talk.count_wrong()};
}

// Inserts what a wave brings, or erases it by pair; returns the milliseconds.
double send(const session& on, const generated& data, std::uint64_t wave, index& to) {
  const std::uint64_t before = keys_after(data.description(), wave - 1);
  const std::uint64_t after = keys_after(data.description(), wave);
  const std::uint64_t first = std::min(before, after);
  const std::uint64_t count = std::max(before, after) - first;
  return with_width(to.info().row_ids == row_id_type::uint32 ? 32 : 64, [&](auto zero) {
    std::vector<decltype(zero)> numbers(count);
    std::iota(numbers.begin(), numbers.end(), static_cast<decltype(zero)>(first));
    const auto rows = on.upload(numbers);
    edits batch;
    if (before < after) {
      batch = {.insert = data.rows(first, count), .insert_rows = column(rows)};
    } else {
      batch = {.erase = data.rows(first, count), .erase_rows = column(rows)};
    }
    return io::wall_milliseconds(on, [&] { to.edit(context(on).stream, batch); });
  });
}

}  // namespace

measurement measure(machine& here, const generated& data, result asked,
                    const std::string& structure, const option_map& options, int repetitions) {
  const session& on = here.on();
  const key_span* const before = data.keys_before();
  const column first = (before != nullptr ? *before : data.keys()).as_column();
  std::unique_ptr<index> built;
  const auto build_anew = [&] {
    built.reset();
    return io::wall_milliseconds(
        on, [&] { built = build(structure, on.where(), on, first, std::nullopt, options); });
  };
  measurement found;
  found.build_ms = median_of(repetitions, build_anew);
  if (before != nullptr) {
    found.update_ms = median_of(repetitions, [&] {
      build_anew();
      auto& updated = dynamic_cast<rx&>(*built);
      return io::wall_milliseconds(
          on, [&] { updated.update(context(on).stream, data.keys().as_column()); });
    });
  }
  found.info = built->info();

  const answered lookups = ask(here, data, asked, *built, repetitions);
  found.lookup_ms = lookups.ms;
  found.lookup_peak_bytes = lookups.peak_bytes;
  found.repairs = lookups.repairs;
  found.wrong = lookups.wrong;
  return found;
}

std::vector<measurement> measure_waves(machine& here, generated& data, result asked,
                                       const std::string& structure, const option_map& options,
                                       int repetitions) {
  const session& on = here.on();
  const auto build_anew = [&](std::unique_ptr<index>& built) {
    built.reset();
    return io::wall_milliseconds(on, [&] {
      built = build(structure, on.where(), on, data.keys().as_column(), std::nullopt, options);
    });
  };
  std::unique_ptr<index> edited;
  const double build_ms = median_of(repetitions, [&] { return build_anew(edited); });
  // An edit is timed where it comes among the others, so that all of them are repeated.
  std::vector<std::vector<double>> edits_ms(2 * data.description().waves);
  std::vector<measurement> all;
  for (int run = 0; run <= repetitions; ++run) {
    build_anew(edited);
    for (std::uint64_t wave = 1; wave <= edits_ms.size(); ++wave) {
      const double ms = send(on, data, wave, *edited);
      if (run != 0) edits_ms[wave - 1].push_back(ms);
      if (run != repetitions) continue;
      data.advance(here, wave);
      measurement& found = all.emplace_back();
      found.info = edited->info();
      found.build_ms = build_ms;
      const answered lookups = ask(here, data, asked, *edited, repetitions);
      found.lookup_ms = lookups.ms;
      found.lookup_peak_bytes = lookups.peak_bytes;
      found.repairs = lookups.repairs;
      std::unique_ptr<index> rebuilt;
      const double rebuild_ms = median_of(repetitions, [&] { return build_anew(rebuilt); });
      const answered others = ask(here, data, asked, *rebuilt, repetitions);
      found.wave = {wave, median(edits_ms[wave - 1]), rebuild_ms, others.ms};
      // Lookups that hit do not tell whether what was erased is gone.
      found.wrong = lookups.wrong + others.wrong + (found.info.entries != data.keys().size ? 1 : 0);
    }
  }
  return all;
}

}  // namespace raydex::bench
