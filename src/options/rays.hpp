// SPDX-License-Identifier: Apache-2.0
// The options of the structures that cast rays.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "raydex/cgrx.hpp"
#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "raydex/rx.hpp"
#include "src/options/option_table.hpp"

namespace raydex {

// What the engine that builds a scene is told.
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
      .text = [](const void* of) { return text_of(static_cast<const owner*>(of)->*Member); },
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

constexpr option_entry with_sorted(option_entry entry) {
  return only_with("primitives=sorted", entry);
}
constexpr option_entry of_sorted(option_entry entry) {
  return of_a_paper(with_sorted(entry));
}

inline constexpr auto rx_table = table_of<rx_options>(
    {"rx", tracing_backends, true},
    std::array{
        of_a_paper(choice<&rx_options::mode>(
            "mode",
            {{"3d", rx_mode::grid}, {"naive", rx_mode::naive}, {"extended", rx_mode::extended}},
            "how keys become coordinates")),
        only_with("mode=3d", bits_option<rx_options>),
        only_with("mode=3d", scale_option<rx_options>),
        choice<&rx_options::primitive>("primitive",
                                       {{"auto", rx_primitive::automatic},
                                        {"triangle", rx_primitive::triangle},
                                        {"sphere", rx_primitive::sphere},
                                        {"box", rx_primitive::box}},
                                       "what stands for a key"),
        of_a_paper(choice<&rx_options::primitives>(
            "primitives", {{"sorted", rx_primitives::sorted}, {"rows", rx_primitives::rows}},
            "in which order primitives stand: of a sorted column, or of the rows")),
        former_option("points", {"perpendicular"}),
        of_sorted(choice<&rx_options::ranges>(
            "ranges", {{"offset", rx_ranges::offset}, {"zero", rx_ranges::zero}},
            "where rays of ranges start")),
        of_sorted(choice<&rx_options::hits>(
            "hits", {{"closest", core::ray_hits::closest}, {"any", core::ray_hits::any}},
            "what of a ray's hits is looked at")),
        of_sorted(choice<&rx_options::duplicates>(
            "duplicates", {{"compress", rx_duplicates::compress}, {"keep", rx_duplicates::keep}},
            "one primitive for equal keys, or one for each"))},
    scene_build_options<rx_options>,
    std::array{
        parts_option<rx_options>, former_option("top", {"table", "instances"}),
        with_sorted(order_option<rx_options>),
        with_sorted(choice<&rx_options::inverse>(
            "inverse",
            {{"off", rx_inverse::off}, {"on", rx_inverse::on}, {"auto", rx_inverse::automatic}},
            "over what the scene is built: the keys, or the points of a batch")),
        former_option("update", {"rebuild"})});

inline constexpr auto cgrx_table = table_of<cgrx_options>(
    {"cgrx", tracing_backends, true},
    std::array{
        number<&cgrx_options::bucket>("bucket", {2, 65'536}, "entries of a bucket at the build"),
        option<&cgrx_options::node>("node", {{"off", 0}}, {2, core::most_node_entries},
                                    "buckets are lists of nodes with room for so many entries"),
        choice<&cgrx_options::layout>("layout",
                                      {{"column", cgrx_layout::column},
                                       {"aligned", cgrx_layout::aligned},
                                       {"packed", cgrx_layout::packed}},
                                      "how entries lie in memory"),
        choice<&cgrx_options::scene>("scene",
                                     {{"auto", not_given},
                                      {"spans", core::bucket_scene::spans},
                                      {"optimised", core::bucket_scene::optimised},
                                      {"naive", core::bucket_scene::naive}},
                                     "what stands for a bucket"),
        of_a_paper(choice<&cgrx_options::mapping>(
            "mapping", {{"fit", cgrx_mapping::fit}, {"bits", cgrx_mapping::bits}},
            "how keys become places")),
        of_a_paper(only_with("mapping=bits", bits_option<cgrx_options>)),
        of_a_paper(only_with("mapping=bits", scale_option<cgrx_options>)),
        choice<&cgrx_options::search>("search",
                                      {{"auto", not_given},
                                       {"binary", core::bucket_search::binary},
                                       {"linear", core::bucket_search::linear},
                                       {"interpolated", core::bucket_search::interpolated}},
                                      "how a bucket is searched"),
        choice<&cgrx_options::scan>("scan",
                                    {{"multi", scanning::multi}, {"single", scanning::single}},
                                    "whether threads share a range's matches")},
    scene_build_options<cgrx_options>,
    std::array{
        parts_option<cgrx_options>, order_option<cgrx_options>,
        option<&cgrx_options::rebuild>(
            "rebuild", {{"never", 0}},
            {2, 1024}, "buckets this many times as large as at the build rebuild the scene")});

}  // namespace raydex
