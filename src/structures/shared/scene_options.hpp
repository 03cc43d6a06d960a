// SPDX-License-Identifier: Apache-2.0
// Options that structures with rays share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raydex/error.hpp"
#include "raydex/rx.hpp"
#include "src/interface/option_table.hpp"

namespace raydex {

// How an engine builds a scene.
template <class Options>
inline constexpr std::array scene_build_options{
    choice<&Options::compact>("compact", {{"auto", not_given}, {"on", true}, {"off", false}},
                              "whether the driver compacts what it built"),
    choice<&Options::build>("build", {{"fast", rx_build::fast}, {"trace", rx_build::trace}},
                            "a fast build, or fast tracing")};

template <class Options>
inline constexpr option_entry parts_option = option<&Options::parts>(
    "parts", {{"auto", 0}}, {1, 4096}, "parts that a scene is divided into");

template <class Options>
inline constexpr option_entry order_option =
    choice<&Options::order>("order",
                            {{"auto", rx_order::automatic},
                             {"batch", rx_order::batch},
                             {"tiles", rx_order::tiles},
                             {"sorted", rx_order::sorted}},
                            "in which order lookups are traced");

// Numbers with slashes between them: bits or steps of x, y and z.
inline std::string text_of(const rx_bits& bits) {
  return numbers_text({bits.x, bits.y, bits.z});
}
inline bool read(std::string_view text, rx_bits& bits) {
  return read_numbers(text, {&bits.x, &bits.y, &bits.z});
}
inline std::string text_of(const rx_scale& scale) {
  return numbers_text({scale.y, scale.z});
}
inline bool read(std::string_view text, rx_scale& scale) {
  return read_numbers(text, {&scale.y, &scale.z});
}
inline std::string text_of(const std::optional<rx_scale>& scale) {
  return scale ? text_of(*scale) : "auto";
}
inline bool read(std::string_view text, std::optional<rx_scale>& scale) {
  scale.reset();
  return text == "auto" || read(text, scale.emplace());
}

template <auto Member>
constexpr option_entry slashed(std::string_view name, std::string_view like,
                               std::string_view meaning) {
  using owner = typename options_detail::owner_of<decltype(Member)>::type;
  return {
      .name = name,
      .meaning = meaning,
      .text =
          [](const void* options) { return text_of(static_cast<const owner*>(options)->*Member); },
      .read = [](void* to,
                 std::string_view text) { return read(text, static_cast<owner*>(to)->*Member); },
      .like = like};
}
template <class Options>
inline constexpr option_entry bits_option = slashed<&Options::bits>("bits", "23/23/18",
                                                                    "bits of a key for x, y and z");
template <class Options>
inline constexpr option_entry scale_option =
    slashed<&Options::scale>("scale", "15/20", "steps along y and z, as powers of 2");

// What is legal of options that structures with rays share, beyond what each says by itself.
// Throws `invalid_argument`.
inline void check_bits(const rx_bits& bits, const rx_scale& scale) {
  if (std::max({bits.x, bits.y, bits.z}) > 23)
    throw invalid_argument("option bits: " + text_of(bits) + ": a coordinate has at most 23 bits");
  const rx_scale most{rx_scale::most - bits.y, rx_scale::most - bits.z};
  if (scale.y > most.y || scale.z > most.z)
    throw invalid_argument("option scale: " + text_of(scale) + ": with bits=" + text_of(bits) +
                           " it is at most " + text_of(most));
}

// Throws `unsupported` if the largest key has no place; `remedy` says what to take.
inline void check_places(std::uint64_t largest_key, std::uint64_t largest_place,
                         const char* remedy) {
  if (largest_key <= largest_place) return;
  throw unsupported("the largest key has the code " + std::to_string(largest_key) +
                    ", but there are places up to " + std::to_string(largest_place) + "; take " +
                    remedy);
}

}  // namespace raydex
