// SPDX-License-Identifier: Apache-2.0
// What JAX calls within compiled functions, through XLA's interface of foreign functions. On a GPU
// work is queued on XLA's stream. No call holds the lock of the interpreter.
#include <dlfcn.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <shared_mutex>
#include <vector>

#include "bindings.hpp"
#include "xla.hpp"

namespace raydex::python {

namespace {

using sizes = std::span<const std::int64_t>;

sizes sizes_of(const xla::buffer& cells) {
  return {cells.sizes, static_cast<std::size_t>(cells.dimensions)};
}

std::uint64_t product(sizes of) {
  return std::accumulate(
      of.begin(), of.end(), std::uint64_t{1},
      [](std::uint64_t all, std::int64_t one) { return all * static_cast<std::uint64_t>(one); });
}

key_format format_of_cells(xla::type type) {
  switch (type) {
    case xla::type::int32:
      return key_format(key_type::int32);
    case xla::type::int64:
      return key_format(key_type::int64);
    case xla::type::uint32:
      return key_format(key_type::uint32);
    case xla::type::uint64:
      return key_format(key_type::uint64);
    case xla::type::float32:
      return key_format(key_type::float32);
    case xla::type::float64:
      return key_format(key_type::float64);
  }
  throw invalid_argument("XLA's type " + std::to_string(static_cast<int>(type)) +
                         " is none of keys");
}

// So many cells of a buffer, from one on.
column cells_of(const xla::buffer& of, std::uint64_t first, std::uint64_t size) {
  const key_format format = format_of_cells(of.type);
  return {format, static_cast<const std::byte*>(of.data) + first * format.width, size};
}

const xla::buffer& buffer_at(const xla::values& values, std::int64_t number) {
  if (number >= values.size || values.types[number] != xla::buffer_value)
    throw invalid_argument("XLA gives other arguments than the function takes");
  return *static_cast<const xla::buffer*>(values.at[number]);
}

// The only attribute, a number.
std::int64_t number_of(const xla::call& call) {
  const xla::attributes& all = call.attributes;
  if (all.size != 1 || all.types[0] != xla::scalar_attribute)
    throw invalid_argument("XLA gives other attributes than the function takes");
  const auto& found = *static_cast<const xla::scalar*>(all.at[0]);
  if (found.type != xla::type::int64)
    throw invalid_argument("XLA gives an attribute of another type than int64");
  return *static_cast<const std::int64_t*>(found.value);
}

// The device that XLA has made the current one, by the driver that it works with.
int current_device() {
  static const auto ask = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
    return reinterpret_cast<int (*)(int*)>(driver == nullptr ? nullptr
                                                             : dlsym(driver, "cuCtxGetDevice"));
  }();
  int device = 0;
  if (ask == nullptr || ask(&device) != 0) throw unavailable("CUDA: XLA made no device current");
  return device;
}

// Memory of a device, or of the host, whose pool keeps what calls give back, and XLA's stream.
context memory_of(backend where, const xla::call& call) {
  if (where == backend::cpu) {
    static const session host(backend::cpu);
    return host;
  }
  static std::mutex mutex;
  static std::map<int, session> opened;
  xla::stream_request request{sizeof(xla::stream_request), nullptr, call.context, nullptr};
  if (call.functions->get_stream(&request) != nullptr)
    throw unavailable("XLA gives no stream of a GPU");
  const int device = current_device();
  const std::lock_guard lock(mutex);
  const auto found = opened.try_emplace(device, where).first;
  return {static_cast<context>(found->second).memory, static_cast<stream_t>(request.stream)};
}

// Calls `answer` for each pair of columns, an element of a batch: the dimensions of `first` but the
// last one are those of the batch, in which either argument has the size 1 where it has one column
// for all. `answer` gets both columns, and where the results of the pair begin.
template <class Answer>
void for_each_pair(const xla::buffer& first, const xla::buffer& second, const Answer& answer) {
  const auto batched = static_cast<std::size_t>(first.dimensions - 1);
  const sizes own = sizes_of(first).first(batched), other = sizes_of(second).first(batched);
  const auto size = static_cast<std::uint64_t>(first.sizes[batched]);
  if (product(own) == 1) {
    const std::uint64_t all = product(sizes_of(second));
    answer(cells_of(first, 0, size), cells_of(second, 0, all), 0);
    return;
  }
  const std::uint64_t other_size = product(sizes_of(second).subspan(batched));
  std::vector<std::int64_t> at(batched);
  const auto column_at = [&](sizes of) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < batched; ++i)
      number = number * static_cast<std::uint64_t>(of[i]) +
               (of[i] == 1 ? 0 : static_cast<std::uint64_t>(at[i]));
    return number;
  };
  std::vector<std::int64_t> both(batched);
  std::ranges::transform(own, other, both.begin(),
                         [](std::int64_t a, std::int64_t b) { return a == 1 ? b : a; });
  const std::uint64_t pairs = product(both);
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    std::uint64_t rest = pair;
    for (std::size_t i = batched; i-- > 0;) {
      at[i] = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(both[i]));
      rest /= static_cast<std::uint64_t>(both[i]);
    }
    answer(cells_of(first, column_at(own) * size, size),
           cells_of(second, column_at(other) * other_size, other_size), pair * other_size);
  }
}

// a, v; right -> positions of 64 bits, as pairs of words
template <backend Where>
void search_sorted_for_jax(const xla::call& call) {
  const auto side = number_of(call) != 0 ? search_side::right : search_side::left;
  const context on = memory_of(Where, call);
  auto* const out = static_cast<std::uint64_t*>(buffer_at(call.results, 0).data);
  for_each_pair(buffer_at(call.arguments, 0), buffer_at(call.arguments, 1),
                [&](const column& sorted, const column& wanted, std::uint64_t first) {
                  search_sorted(Where, on, sorted, wanted, side, {out + first, wanted.size});
                });
}

// test_elements, elements -> whether each is there
template <backend Where>
void is_in_for_jax(const xla::call& call) {
  const context on = memory_of(Where, call);
  auto* const out = static_cast<bool*>(buffer_at(call.results, 0).data);
  for_each_pair(buffer_at(call.arguments, 0), buffer_at(call.arguments, 1),
                [&](const column& tests, const column& elements, std::uint64_t first) {
                  is_in(Where, on, tests, elements, {out + first, elements.size});
                });
}

// An index that compiled functions know by a number. Whoever asks it holds the lock, so that it
// does not go meanwhile.
struct named_index {
  std::shared_mutex mutex;
  const index_handle* handle;  // null once it is forgotten
  int device;                  // -1: the host
  std::mutex of_streams;
  std::set<address> streams{};  // of XLA, that it was asked on

  named_index(const index_handle& named, int where) : handle(&named), device(where) {}
};

// Nobody waits with this lock held: what changes an index has it locked and may, in Python, forget
// others.
struct named_indexes {
  std::mutex mutex;
  std::map<std::int64_t, std::shared_ptr<named_index>> by_number;
};
named_indexes& names() {
  static named_indexes all;
  return all;
}

std::shared_ptr<named_index> index_named(std::int64_t number) {
  const std::lock_guard lock(names().mutex);
  const auto found = names().by_number.find(number);
  return found == names().by_number.end() ? nullptr : found->second;
}

void name_index(std::int64_t number, const index_handle& named, int device) {
  const std::lock_guard lock(names().mutex);
  std::shared_ptr<named_index>& own = names().by_number[number];
  if (own == nullptr) own = std::make_shared<named_index>(named, device);
}

void forget_index(std::int64_t number) {
  const std::shared_ptr<named_index> own = index_named(number);
  if (own == nullptr) return;
  {
    const std::unique_lock lock(own->mutex);
    own->handle = nullptr;
  }
  const std::lock_guard lock(names().mutex);
  names().by_number.erase(number);
}

std::vector<address> streams_of_index(std::int64_t number) {
  const std::shared_ptr<named_index> own = index_named(number);
  if (own == nullptr) return {};
  const std::lock_guard lock(own->of_streams);
  return {own->streams.begin(), own->streams.end()};
}

template <class To, class From>
std::vector<To> converted(const column& of) {
  const auto* const cells = static_cast<const From*>(of.data);
  return {cells, cells + of.size};
}

// Points that are narrower than the keys, in their type.
template <class To>
std::vector<To> widened(const column& of) {
  switch (of.format.type) {
    case key_type::int32:
      return converted<To, std::int32_t>(of);
    case key_type::uint32:
      return converted<To, std::uint32_t>(of);
    case key_type::float32:
      return converted<To, float>(of);
    default:
      throw invalid_argument("points: of " + to_string(of.format) + ", which the keys are not");
  }
}

template <backend Where>
void first_rows(const index& of, const context& on, const column& given, const xla::buffer& out) {
  const bool narrow = out.type == xla::type::int32;
  const std::uint64_t most = narrow ? INT32_MAX : INT64_MAX;
  if (of.info().max_row_id > most)
    throw invalid_argument("index: it has rows beyond " + std::to_string(most));
  const row_id_span rows =
      row_ids_at(reinterpret_cast<address>(out.data), given.size, narrow ? 32 : 64);
  const auto ask = [&](const column& wanted) { of.first(on, points(wanted), rows); };
  const key_format key = of.info().key;
  if (given.format == key) return ask(given);
  if (Where == backend::cpu) {
    switch (key.type) {
      case key_type::int64:
        return ask(column(widened<std::int64_t>(given)));
      case key_type::uint64:
        return ask(column(widened<std::uint64_t>(given)));
      case key_type::float64:
        return ask(column(widened<double>(given)));
      default:
        break;
    }
  }
  throw invalid_argument(
      "points: of " + to_string(given.format) + ", but the keys of " + to_string(key) +
      (Where == backend::cpu ? "" : "; set jax_enable_x64, or build over those"));
}

[[noreturn]] void refuse_closed() {
  throw invalid_argument("index: it is closed; keep it until the results are there");
}

// points; the number of an index -> rows in int32 or int64
template <backend Where>
void first_for_jax(const xla::call& call) {
  const xla::buffer& given = buffer_at(call.arguments, 0);
  const std::shared_ptr<named_index> asked = index_named(number_of(call));
  if (asked == nullptr) refuse_closed();
  const std::shared_lock lock(asked->mutex);
  if (asked->handle == nullptr) refuse_closed();
  if (asked->device != (Where == backend::cpu ? -1 : current_device()))
    throw invalid_argument("index: it is elsewhere than the points; build it where they are");
  const context on = memory_of(Where, call);
  if (Where != backend::cpu) {
    const std::lock_guard own(asked->of_streams);
    asked->streams.insert(reinterpret_cast<address>(on.stream));
  }
  asked->handle->shared([&](const index& one) {
    first_rows<Where>(one, on, cells_of(given, 0, product(sizes_of(given))),
                      buffer_at(call.results, 0));
  });
}

xla::error* failed(const xla::call& call, const char* message, xla::error_code code) {
  xla::error_description description{sizeof(xla::error_description), nullptr, message, code};
  return call.functions->create_error(&description);
}

// Tells XLA the version of its interface that this is written for.
void describe(const xla::extension* asked) {
  xla::metadata& to = *reinterpret_cast<const xla::metadata_extension*>(asked)->metadata;
  to.version = {sizeof(xla::version), nullptr, 0, xla::own_minor};
  to.traits = 0;
}

template <void (*Answer)(const xla::call&)>
xla::error* handler(xla::call* call) {
  if (call->extensions != nullptr && call->extensions->type == xla::metadata_type) {
    describe(call->extensions);
    return nullptr;
  }
  try {
    Answer(*call);
    return nullptr;
  } catch (const out_of_memory& error) {
    return failed(*call, error.what(), xla::error_code::resource_exhausted);
  } catch (const error& error) {
    return failed(*call, error.what(), xla::error_code::invalid_argument);
  } catch (const std::exception& error) {
    return failed(*call, error.what(), xla::error_code::internal);
  }
}

// By name and XLA's platform.
template <backend Where>
nb::dict handlers_on() {
  const auto capsule = [](xla::error* (*of)(xla::call*)) {
    return nb::capsule(reinterpret_cast<const void*>(of));
  };
  nb::dict all;
  all["raydex_searchsorted"] = capsule(handler<search_sorted_for_jax<Where>>);
  all["raydex_isin"] = capsule(handler<is_in_for_jax<Where>>);
  all["raydex_first"] = capsule(handler<first_for_jax<Where>>);
  return all;
}

nb::dict handlers() {
  nb::dict all;
  all["cpu"] = handlers_on<backend::cpu>();
  all["CUDA"] = handlers_on<backend::cuda>();
  return all;
}

}  // namespace

void bind_jax(nb::module_& to) {
  to.def("jax_handlers", handlers, nb::sig("def jax_handlers() -> dict[str, dict[str, object]]"));
  to.def("name_index", name_index, nb::arg("number"), nb::arg("index"), nb::arg("device"),
         without_gil());
  to.def("forget_index", forget_index, nb::arg("number"), without_gil());
  to.def("streams_of_index", streams_of_index, nb::arg("number"), without_gil());
}

}  // namespace raydex::python
