// SPDX-License-Identifier: Apache-2.0
// The C interface, on the C++ one. No exception leaves it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/session.hpp"
#include "raydex/version.hpp"

#pragma GCC visibility push(default)
#include "raydex/raydex.h"
#pragma GCC visibility pop

namespace {

using raydex::invalid_argument;

// A session, which indexes keep.
using shared_session = std::shared_ptr<const raydex::session>;

}  // namespace

struct raydex_session {
  shared_session on;
  std::mutex mutex;
  std::map<const void*, raydex::buffer<std::byte>> given;

  void* give(raydex::buffer<std::byte> memory) {
    void* const first = memory.data();
    if (first == nullptr) return nullptr;
    const std::lock_guard lock(mutex);
    given.emplace(first, std::move(memory));
    return first;
  }
};

struct raydex_index {
  shared_session on;
  std::unique_ptr<raydex::index> built;
};

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

raydex_status failed(raydex_status status, const char* what) noexcept {
  try {
    last_error() = what;
  } catch (...) {
    last_error().clear();  // there is no memory for a text either
  }
  return status;
}

// Does something, and says how it ended.
template <class F>
raydex_status guarded(const F& f) noexcept {
  try {
    try {
      f();
      return RAYDEX_OK;
    } catch (...) {
      raydex::rethrow_as_error();
    }
  } catch (const invalid_argument& error) {
    return failed(RAYDEX_INVALID_ARGUMENT, error.what());
  } catch (const raydex::unsupported& error) {
    return failed(RAYDEX_UNSUPPORTED, error.what());
  } catch (const raydex::unavailable& error) {
    return failed(RAYDEX_UNAVAILABLE, error.what());
  } catch (const raydex::out_of_memory& error) {
    return failed(RAYDEX_OUT_OF_MEMORY, error.what());
  } catch (const raydex::cuda_error& error) {
    return failed(RAYDEX_CUDA_ERROR, error.what());
  } catch (const raydex::optix_error& error) {
    return failed(RAYDEX_OPTIX_ERROR, error.what());
  } catch (const std::exception& error) {
    return failed(RAYDEX_ERROR, error.what());
  } catch (...) {
    return failed(RAYDEX_ERROR, "an exception that says nothing");
  }
}

template <class T>
T& checked(const char* argument, T* pointer) {
  if (pointer == nullptr) throw invalid_argument(fmt::format("{}: a null pointer", argument));
  return *pointer;
}

// What a call returns, which is null if it fails.
template <class T>
T*& returned(const char* argument, T** pointer) {
  T*& to = checked(argument, pointer);
  to = nullptr;
  return to;
}

raydex::validity_bitmap validity_of(const raydex_column& of) {
  return {of.validity, of.validity_offset};
}

bool is_of_strings(const raydex_column& of) {
  return of.type == RAYDEX_STRING || of.type == RAYDEX_LARGE_STRING;
}

raydex::key_format format_of(const char* argument, const raydex_column& of) {
  using raydex::key_type;
  constexpr std::array types{key_type::uint32, key_type::uint64,  key_type::int32,
                             key_type::int64,  key_type::float32, key_type::float64};
  if (of.type == RAYDEX_BYTES) {
    if (of.width < 1 || of.width > 8) {
      throw invalid_argument(
          fmt::format("{}: strings of {} bytes; a cell of RAYDEX_BYTES has 1 to 8, longer ones are "
                      "RAYDEX_STRING, as keys of joins",
                      argument, of.width));
    }
    return raydex::key_format::bytes(static_cast<std::uint8_t>(of.width));
  }
  if (of.type < 0 || of.type >= std::ssize(types)) {
    throw invalid_argument(
        is_of_strings(of)
            ? fmt::format("{}: strings of any length are keys of joins alone", argument)
            : fmt::format("{}: type {} is none; they are RAYDEX_UINT32 to RAYDEX_LARGE_STRING",
                          argument, of.type));
  }
  const raydex::key_format format(types[static_cast<std::size_t>(of.type)]);
  if (of.width != 0 && of.width != format.width) {
    throw invalid_argument(fmt::format("{}: cells of {} have {} bytes, not {}; 0 is right, too",
                                       argument, to_string(format), format.width, of.width));
  }
  return format;
}

raydex::column column_of(const char* argument, const raydex_column* given) {
  const raydex_column& of = checked(argument, given);
  raydex::column made(format_of(argument, of), of.data, of.length, validity_of(of));
  made.stride = of.stride;
  return made;
}

raydex::key_parts parts_of(const char* argument, const raydex_column* columns, std::size_t count) {
  raydex::key_parts parts;
  if (count == 0 || count > raydex::most_key_parts) {
    throw invalid_argument(
        fmt::format("columns: {}; a key has 1 to {}", count, raydex::most_key_parts));
  }
  checked(argument, columns);
  for (const raydex_column& of : std::span(columns, count)) {
    if (is_of_strings(of)) {
      parts.emplace_back(raydex::string_column{.bytes = static_cast<const char*>(of.data),
                                               .offsets = of.offsets,
                                               .wide_offsets = of.type == RAYDEX_LARGE_STRING,
                                               .size = of.length,
                                               .validity = validity_of(of)});
    } else {
      parts.emplace_back(column_of(argument, &of));
    }
  }
  return parts;
}

raydex::probes probes_of(const raydex_column* lower, const raydex_column* upper) {
  const raydex::column begin = column_of("lower", lower);
  return upper == nullptr ? raydex::points(begin)
                          : raydex::ranges(begin, column_of("upper", upper));
}

// The options of "name=value name=value".
raydex::option_map options_of(const char* text) {
  raydex::option_map options;
  std::string_view left = text == nullptr ? "" : text;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) {
      throw invalid_argument(
          fmt::format("options: '{}' has no value; they are name=value, separated by spaces", one));
    }
    options.insert_or_assign(std::string(one.substr(0, equals)),
                             std::string(one.substr(equals + 1)));
  }
  return options;
}

raydex::join_kind kind_of(raydex_join_kind kind) {
  constexpr std::array kinds{raydex::join_kind::inner, raydex::join_kind::left,
                             raydex::join_kind::semi,  raydex::join_kind::anti,
                             raydex::join_kind::right, raydex::join_kind::full};
  if (kind < 0 || kind >= std::ssize(kinds)) {
    throw invalid_argument(
        fmt::format("kind: {} is none; they are RAYDEX_INNER to RAYDEX_FULL", kind));
  }
  return kinds[static_cast<std::size_t>(kind)];
}

// Calls f(index, context, probes).
template <class F>
raydex_status look_up(const raydex_index* in, const raydex_column* lower,
                      const raydex_column* upper, const F& f) noexcept {
  return guarded([&] {
    const raydex_index& index = checked("index", in);
    f(*index.built, raydex::context(*index.on), probes_of(lower, upper));
  });
}

}  // namespace

const char* raydex_version() {
  return RAYDEX_VERSION;
}

const char* raydex_last_error() {
  return last_error().c_str();
}

raydex_status raydex_open(const char* backend, raydex_session** session) {
  return guarded([&] {
    raydex_session*& to = returned("session", session);
    auto opened = std::make_unique<raydex_session>();
    opened->on = std::make_shared<const raydex::session>(
        raydex::parse_backend(backend == nullptr ? "auto" : backend));
    to = opened.release();
  });
}

void raydex_close(raydex_session* session) {
  delete session;
}

const char* raydex_backend(const raydex_session* session) {
  return session == nullptr ? "" : to_string(session->on->where()).data();
}

raydex_status raydex_allocate(raydex_session* session, std::uint64_t bytes, void** memory) {
  return guarded([&] {
    void*& to = returned("memory", memory);
    raydex_session& own = checked("session", session);
    to = own.give({*own.on, bytes});
  });
}

void raydex_free(raydex_session* session, void* memory) {
  if (session == nullptr) return;
  const std::lock_guard lock(session->mutex);
  session->given.erase(memory);
}

raydex_status raydex_copy_in(raydex_session* session, void* to, const void* from,
                             std::uint64_t bytes) {
  return guarded([&] {
    const raydex_session& own = checked("session", session);
    if (bytes != 0)
      own.on->copy_in(&checked("to", static_cast<char*>(to)),
                      &checked("from", static_cast<const char*>(from)), bytes);
  });
}

raydex_status raydex_copy_out(raydex_session* session, void* to, const void* from,
                              std::uint64_t bytes) {
  return guarded([&] {
    const raydex_session& own = checked("session", session);
    if (bytes != 0)
      own.on->copy_out(&checked("to", static_cast<char*>(to)),
                       &checked("from", static_cast<const char*>(from)), bytes);
  });
}

raydex_status raydex_synchronize(raydex_session* session) {
  return guarded([&] { checked("session", session).on->synchronize(); });
}

raydex_status raydex_build(raydex_session* session, const char* structure, const char* options,
                           const raydex_column* keys, raydex_index** index) {
  return guarded([&] {
    raydex_index*& to = returned("index", index);
    const raydex_session& own = checked("session", session);
    auto made = std::make_unique<raydex_index>();
    made->on = own.on;
    made->built = raydex::build(structure == nullptr ? "auto" : structure, own.on->where(), *own.on,
                                column_of("keys", keys), {}, options_of(options));
    to = made.release();
  });
}

void raydex_free_index(raydex_index* index) {
  delete index;
}

raydex_status raydex_first(const raydex_index* index, const raydex_column* lower,
                           const raydex_column* upper, std::uint64_t* out, std::uint64_t room) {
  return look_up(index, lower, upper, [&](const auto& in, const auto& on, const auto& batch) {
    in.first(on, batch, std::span(out, room));
  });
}

raydex_status raydex_count(const raydex_index* index, const raydex_column* lower,
                           const raydex_column* upper, std::uint64_t* out, std::uint64_t room) {
  return look_up(index, lower, upper, [&](const auto& in, const auto& on, const auto& batch) {
    in.count(on, batch, std::span(out, room));
  });
}

raydex_status raydex_contains(const raydex_index* index, const raydex_column* lower,
                              const raydex_column* upper, std::uint8_t* out, std::uint64_t room) {
  static_assert(sizeof(bool) == 1);
  return look_up(index, lower, upper, [&](const auto& in, const auto& on, const auto& batch) {
    in.contains(on, batch, std::span(reinterpret_cast<bool*>(out), room));
  });
}

raydex_status raydex_offsets(const raydex_index* index, const raydex_column* lower,
                             const raydex_column* upper, std::uint64_t* out, std::uint64_t room,
                             std::uint64_t* total) {
  return look_up(index, lower, upper, [&](const auto& in, const auto& on, const auto& batch) {
    in.offsets(on, batch, std::span(out, room));
    if (total != nullptr) index->on->copy_out(total, out + batch.size(), sizeof *total);
  });
}

raydex_status raydex_rows(const raydex_index* index, const raydex_column* lower,
                          const raydex_column* upper, const std::uint64_t* offsets,
                          std::uint64_t* out, std::uint64_t room) {
  return look_up(index, lower, upper, [&](const auto& in, const auto& on, const auto& batch) {
    in.rows(on, batch, std::span(&checked("offsets", offsets), batch.size() + 1),
            std::span(out, room));
  });
}

raydex_status raydex_join(raydex_session* session, const raydex_column* build,
                          const raydex_column* probe, std::size_t columns, raydex_join_kind kind,
                          raydex_pairs* pairs) {
  return guarded([&] {
    raydex_pairs& to = checked("pairs", pairs);
    to = {};
    raydex_session& own = checked("session", session);
    const raydex::join_kind rows = kind_of(kind);
    const auto built = build_join(own.on->where(), *own.on, parts_of("build", build, columns));
    const auto found = built->match(*own.on, parts_of("probe", probe, columns), rows);
    const bool one_side = rows == raydex::join_kind::semi || rows == raydex::join_kind::anti;
    const std::uint64_t bytes = raydex::saturated_product(found->size(), sizeof(std::uint64_t));
    raydex::buffer<std::byte> probes(*own.on, bytes);
    raydex::buffer<std::byte> builds(*own.on, one_side ? 0 : bytes);
    found->rows(*own.on, raydex::gather_maps(raydex::row_id_type::uint64, probes.data(),
                                             builds.data(), found->size()));
    raydex_pairs made{found->size(), nullptr, nullptr};
    made.probe_rows = static_cast<std::uint64_t*>(own.give(std::move(probes)));
    try {
      made.build_rows = static_cast<std::uint64_t*>(own.give(std::move(builds)));
    } catch (...) {
      raydex_free(session, made.probe_rows);
      throw;
    }
    to = made;
  });
}

void raydex_free_pairs(raydex_session* session, raydex_pairs* pairs) {
  if (pairs == nullptr) return;
  raydex_free(session, pairs->probe_rows);
  raydex_free(session, pairs->build_rows);
  *pairs = {};
}
