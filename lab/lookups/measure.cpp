// SPDX-License-Identifier: Apache-2.0
// Builds, asks, times and checks.
#include "lab/lookups/measure.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "io/wall_clock.hpp"
#include "lab/machine/median.hpp"
#include "lab/workloads/keys/key_span.hpp"
#include "raydex/aggregate.hpp"
#include "raydex/join.hpp"
#include "raydex/repairs.hpp"

namespace raydex::bench {
namespace {

// Threads that ask an index at the same time, each with memory and a stream of its own.
class crew {
 public:
  crew(backend where, std::uint64_t threads) {
    for (std::uint64_t t = 0; t < threads; ++t)
      members_.push_back(std::make_unique<member>(where));
  }

  // Has each thread queue its work, `queue(thread, on)`, and wait until that is done. The time from
  // when all of them begin until the last is done: calls of several threads have no events in
  // common.
  double milliseconds(const std::function<void(std::uint64_t, const context&)>& queue) const {
    std::latch ready(static_cast<std::ptrdiff_t>(members_.size()));
    std::latch begin(1);
    std::vector<std::future<void>> threads;
    try {
      for (std::uint64_t t = 0; t < members_.size(); ++t) {
        threads.push_back(std::async(std::launch::async, [&, t] {
          ready.count_down();
          begin.wait();
          queue(t, {members_[t]->memory, context(members_[t]->own).stream});
          members_[t]->own.synchronize();
        }));
      }
    } catch (...) {
      begin.count_down();  // those that wait already are waited for
      throw;
    }
    ready.wait();
    const auto start = std::chrono::steady_clock::now();
    begin.count_down();
    for (std::future<void>& one : threads)
      one.get();
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(end - start).count();
  }

  // The most memory that each of them took at once, together.
  std::uint64_t peak_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& one : members_)
      bytes += one->memory.peak();
    return bytes;
  }

 private:
  struct member {
    explicit member(backend where) : own(where), memory(context(own).memory) {}
    session own;
    tracking_resource memory;
  };

  std::vector<std::unique_ptr<member>> members_;
};

// All batches of a workload with the memory for their answers.
class interview {
 public:
  interview(machine& target, const generated& data, result kind, const index& who)
      : machine_(&target),
        data_(&data),
        kind_(kind),
        index_(&who),
        memory_(context(target.on()).memory),
        crew_(target.on().where(), data.description().threads) {
    const workload& spec = data.description();
    if (spec.aggregate != 0) build_aggregate_of(kind);
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < spec.batches; ++i) {
      const std::uint64_t size = spec.probes / spec.batches + (i < spec.probes % spec.batches);
      batches_.push_back({.begin = begin, .size = size});
      begin += size;
    }
    const context memory = target.on();
    // How many rows the answers are is learnt beforehand, so that memory for them is there when
    // runs are timed.
    if (kind == result::pairs) {
      join_build_ms_ = median_of(1, [&] {
        join_.reset();
        return io::wall_milliseconds(target.on(), [&] { join_ = build_join(memory, who); });
      });
      std::uint64_t total = 0;
      for (batch& b : batches_) {
        b.rows = join_->match(memory, probes_of(b), join_kind::inner)->size();
        b.first_row = total;
        total += b.rows;
      }
      values_ = buffer<std::byte>(memory, saturated_product(total, row_bytes()));
      probe_rows_ = buffer<std::byte>(memory, values_.size());
    } else if (kind == result::rows) {
      // Each batch has its own offsets, one more than probes.
      offsets_ = buffer<std::uint64_t>(memory, spec.probes + spec.batches);
      std::uint64_t total = 0;
      for (std::uint64_t i = 0; i < batches_.size(); ++i) {
        batch& b = batches_[i];
        who.offsets(memory, probes_of(b), offsets_of(i));
        target.on().copy_out(&b.rows, offsets_of(i).data() + b.size, sizeof b.rows);
        b.first_row = total;
        total += b.rows;
      }
      values_ = buffer<std::byte>(memory, saturated_product(total, row_bytes()));
    } else {
      values_ = buffer<std::byte>(memory, spec.probes * value_bytes());
    }
    target.poison(values_.data(), values_.bytes());
    target.poison(offsets_.data(), offsets_.bytes());
    target.poison(probe_rows_.data(), probe_rows_.bytes());
  }

  // Asks all batches; how long it takes from the first call until all are answered. On a device
  // that is the time between two events around all calls on a stream, launches included.
  double milliseconds() {
    for (batch& b : batches_)
      b.found.reset();
    const std::uint64_t threads = data_->description().threads;
    if (threads == 0) {
      const context work{memory_, context(machine_->on()).stream};
      return machine_->milliseconds([&] { queue(0, 1, work); });
    }
    machine_->on().synchronize();
    return crew_.milliseconds(
        [&](std::uint64_t t, const context& work) { queue(t, threads, work); });
  }

  // How long the aggregate took to build, and what it holds; if there is one.
  const std::optional<double>& aggregate_ms() const { return aggregate_ms_; }
  std::uint64_t aggregate_bytes() const {
    return aggregate_ == nullptr ? 0 : aggregate_->info().resident_bytes;
  }

  // How long a join over the index took to make, and what it holds; if there is one.
  const std::optional<double>& join_build_ms() const { return join_build_ms_; }
  std::uint64_t join_bytes() const { return join_ == nullptr ? 0 : join_->info().resident_bytes; }

  // The most memory that the index took for it at once.
  std::uint64_t peak_bytes() const { return memory_.peak() + crew_.peak_bytes(); }

  // Counts the wrong answers of the last time.
  std::uint64_t count_wrong() {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < batches_.size(); ++i) {
      const batch& b = batches_[i];
      const probes probed = probes_of(b);
      answered_batch answered;
      answered.kind = kind_;
      answered.key_bits = data_->description().key_bits;
      answered.row_id_bits = static_cast<int>(8 * row_bytes());
      answered.size = b.size;
      answered.lower = probed.lower.data;
      answered.upper = probed.upper.data;
      answered.values = values_of(b);
      if (kind_ == result::rows) answered.offsets = offsets_of(i).data();
      answered.total = b.rows;
      buffer<std::uint64_t> begins;
      if (kind_ == result::pairs) {
        const std::vector<std::uint64_t> offsets = offsets_by_counts(b);
        if (offsets.back() != b.rows) ++wrong;
        begins = machine_->on().upload(offsets);
        answered.offsets = begins.data();
        answered.probe_rows = probe_rows_of(b);
      }
      wrong += machine_->count_wrong(data_->set(), answered);
    }
    return wrong;
  }

 private:
  struct batch {
    std::uint64_t begin;
    std::uint64_t size;
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;
    std::unique_ptr<joined> found = {};  // of `pairs`, the last time
  };

  // Over row ids as values: their sums are what sums without values are.
  void build_aggregate_of(result kind) {
    const session& on = machine_->on();
    with_width(8 * static_cast<int>(row_bytes()), [&](auto zero) {
      std::vector<decltype(zero)> rows(index_->info().n);
      std::iota(rows.begin(), rows.end(), zero);
      const auto values = on.upload(rows);
      aggregate_ms_ = io::wall_milliseconds(on, [&] {
        aggregate_ = build_aggregate(on, *index_, column(values),
                                     {.sums = kind == result::sum,
                                      .minima = false,
                                      .maxima = false,
                                      .first_rows = kind == result::first});
      });
    });
  }

  // Queues every `step`-th batch.
  void queue(std::uint64_t first, std::uint64_t step, const context& work) {
    for (std::uint64_t i = first; i < batches_.size(); i += step) {
      batch& b = batches_[i];
      const probes probed = probes_of(b);
      if (aggregate_ != nullptr && kind_ != result::rows) {
        ask_aggregate(work, probed, b);
      } else if (kind_ == result::first) {
        index_->first(work, probed, {index_->info().row_ids, values_of(b), b.size});
      } else if (kind_ == result::count) {
        index_->count(work, probed, numbers_of(b));
      } else if (kind_ == result::rank) {
        index_->rank(work, probed, numbers_of(b));
      } else if (kind_ == result::sum) {
        index_->sum(work, probed, numbers_of(b));
      } else if (kind_ == result::pairs) {
        b.found = join_->match(work, probed, join_kind::inner);
        b.found->rows(work, {row_type(), probe_rows_of(b), values_of(b), b.rows});
      } else {
        index_->offsets(work, probed, offsets_of(i));
        index_->rows(work, probed, offsets_of(i), {index_->info().row_ids, values_of(b), b.rows});
      }
    }
  }

  void ask_aggregate(const context& work, const probes& probed, const batch& b) {
    if (kind_ == result::first) {
      aggregate_->first(work, probed, {index_->info().row_ids, values_of(b), b.size});
    } else if (kind_ == result::count) {
      aggregate_->count(work, probed, numbers_of(b));
    } else {
      aggregate_->sum(work, probed, numbers_of(b));
    }
  }

  // Where the rows of each probe of a join begin, and where the last ones end, as it counts them.
  std::vector<std::uint64_t> offsets_by_counts(const batch& b) const {
    const session& on = machine_->on();
    buffer<std::uint64_t> counts(on, b.size);
    b.found->counts(on, {counts.data(), b.size});
    const std::vector<std::uint64_t> each = on.download(counts);
    std::vector<std::uint64_t> offsets(b.size + 1);
    std::inclusive_scan(each.begin(), each.end(), offsets.begin() + 1);
    return offsets;
  }

  // Of row ids that are written, and of probe rows; the first batch is the largest.
  row_id_type row_type() const {
    const bool wide = kind_ == result::pairs && batches_.front().size >= not_found<std::uint32_t>;
    return wide ? row_id_type::uint64 : index_->info().row_ids;
  }
  std::uint64_t row_bytes() const { return row_type() == row_id_type::uint32 ? 4 : 8; }
  std::uint64_t value_bytes() const {
    return kind_ == result::first || has_lists(kind_) ? row_bytes() : 8;
  }
  probes probes_of(const batch& b) const { return data_->batch(b.begin, b.size); }
  std::span<std::uint64_t> offsets_of(std::uint64_t i) {
    return {offsets_.data() + batches_[i].begin + i, batches_[i].size + 1};
  }
  void* values_of(const batch& b) {
    const std::uint64_t at = has_lists(kind_) ? b.first_row : b.begin;
    return at == 0 ? values_.data() : values_.data() + at * value_bytes();
  }
  void* probe_rows_of(const batch& b) {
    return b.first_row == 0 ? probe_rows_.data() : probe_rows_.data() + b.first_row * row_bytes();
  }
  std::span<std::uint64_t> numbers_of(const batch& b) {
    return {static_cast<std::uint64_t*>(values_of(b)), b.size};
  }

  machine* machine_;
  const generated* data_;
  result kind_;
  const index* index_;
  std::unique_ptr<aggregate> aggregate_;  // that answers instead; null: none
  std::optional<double> aggregate_ms_;
  std::unique_ptr<join> join_;  // that answers `pairs`
  std::optional<double> join_build_ms_;
  tracking_resource memory_;  // of lookups
  crew crew_;
  std::vector<batch> batches_;
  buffer<std::uint64_t> offsets_;
  buffer<std::byte> values_;
  buffer<std::byte> probe_rows_;
};

struct answered {
  std::optional<double> aggregate_ms;
  std::uint64_t aggregate_bytes;
  std::optional<double> join_build_ms;
  std::uint64_t join_bytes;
  double ms;
  std::uint64_t peak_bytes;
  std::uint64_t repairs;
  std::uint64_t wrong;
};

answered ask(machine& target, const generated& data, result kind, const index& who,
             int repetitions) {
  stream_t stream = context(target.on()).stream;
  const std::uint64_t repaired = repairs(who, stream);
  interview talk(target, data, kind, who);
  const double ms = median_call_of(repetitions, [&] { return talk.milliseconds(); });
  return {.aggregate_ms = talk.aggregate_ms(),
          .aggregate_bytes = talk.aggregate_bytes(),
          .join_build_ms = talk.join_build_ms(),
          .join_bytes = talk.join_bytes(),
          .ms = ms,
          .peak_bytes = talk.peak_bytes(),
          .repairs = repairs(who, stream) - repaired,
          .wrong = talk.count_wrong()};
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

// Builds an index over the data in place of another one, or of none; returns the milliseconds.
double build_anew(const session& on, const generated& data, const std::string& structure,
                  const option_map& options, std::unique_ptr<index>& built) {
  built.reset();
  return io::wall_milliseconds(on, [&] {
    built = build(structure, on.where(), on, data.keys().as_column(), std::nullopt, options);
  });
}

}  // namespace

measurement measure(machine& target, const generated& data, result kind,
                    const std::string& structure, const option_map& options, int repetitions) {
  const session& on = target.on();
  std::unique_ptr<index> built;
  measurement found;
  found.build_ms =
      median_of(repetitions, [&] { return build_anew(on, data, structure, options, built); });
  found.info = built->info();

  const answered lookups = ask(target, data, kind, *built, repetitions);
  found.aggregate_ms = lookups.aggregate_ms;
  found.aggregate_bytes = lookups.aggregate_bytes;
  found.join_build_ms = lookups.join_build_ms;
  found.join_bytes = lookups.join_bytes;
  found.lookup_ms = lookups.ms;
  found.lookup_peak_bytes = lookups.peak_bytes;
  found.matches = data.matches();
  found.repairs = lookups.repairs;
  found.wrong = lookups.wrong;
  return found;
}

std::vector<measurement> measure_waves(machine& target, generated& data, result kind,
                                       const std::string& structure, const option_map& options,
                                       int repetitions) {
  const session& on = target.on();
  const auto put_anew = [&](std::unique_ptr<index>& built) {
    return build_anew(on, data, structure, options, built);
  };
  std::unique_ptr<index> edited;
  const double build_ms = median_of(repetitions, [&] { return put_anew(edited); });
  // An edit is timed where it comes among the others, so that all of them are repeated.
  std::vector<std::vector<double>> edits_ms(2 * data.description().waves);
  std::vector<measurement> all;
  for (int run = 0; run <= repetitions; ++run) {
    put_anew(edited);
    for (std::uint64_t wave = 1; wave <= edits_ms.size(); ++wave) {
      const double ms = send(on, data, wave, *edited);
      if (run != 0) edits_ms[wave - 1].push_back(ms);
      if (run != repetitions) continue;
      data.advance(target, wave);
      measurement& found = all.emplace_back();
      found.info = edited->info();
      found.build_ms = build_ms;
      const answered lookups = ask(target, data, kind, *edited, repetitions);
      found.lookup_ms = lookups.ms;
      found.lookup_peak_bytes = lookups.peak_bytes;
      found.matches = data.matches();
      found.repairs = lookups.repairs;
      std::unique_ptr<index> rebuilt;
      const double rebuild_ms = median_of(repetitions, [&] { return put_anew(rebuilt); });
      const answered others = ask(target, data, kind, *rebuilt, repetitions);
      found.wave = {wave, median(edits_ms[wave - 1]), rebuild_ms, others.ms};
      // Lookups that hit do not tell whether what was erased is gone.
      found.wrong = lookups.wrong + others.wrong + (found.info.entries != data.keys().size ? 1 : 0);
    }
  }
  return all;
}

}  // namespace raydex::bench
