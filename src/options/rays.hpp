// SPDX-License-Identifier: Apache-2.0
// The options of the structures that cast rays.
#pragma once

#include <array>
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
    choice<&Options::fast_build>("build", {{"fast", true}, {"trace", false}},
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

// Bits of a key for x, y and z.
template <class Options>
inline constexpr option_entry bits_option{
    .name = "bits",
    .meaning = "bits of a key for x, y and z",
    .text =
        [](const void* given) {
          const auto& options = *static_cast<const Options*>(given);
          return numbers_text({options.x_bits, options.y_bits, options.z_bits});
        },
    .read =
        [](void* to, std::string_view text) {
          auto& options = *static_cast<Options*>(to);
          return read_numbers(text, {&options.x_bits, &options.y_bits, &options.z_bits});
        },
    .like = "23/23/18"};

inline constexpr std::string_view scale_meaning = "steps along y and z, as powers of 2";
inline constexpr std::string_view scale_example = "15/20";

inline constexpr auto rx_table = table_of<rx_options>(
    std::array{
        of_a_paper(choice<&rx_options::mode>(
            "mode",
            {{"3d", rx_mode::grid}, {"naive", rx_mode::naive}, {"extended", rx_mode::extended}},
            "how keys become coordinates")),
        only_with("mode=3d", bits_option<rx_options>),
        only_with("mode=3d",
                  option_entry{
                      .name = "scale",
                      .meaning = scale_meaning,
                      .text =
                          [](const void* given) {
                            const auto& scale = static_cast<const rx_options*>(given)->scale;
                            return scale ? numbers_text({scale->y, scale->z}) : std::string("auto");
                          },
                      .read =
                          [](void* to, std::string_view text) {
                            auto& scale = static_cast<rx_options*>(to)->scale;
                            scale.reset();
                            if (text == "auto") return true;
                            scale.emplace();
                            return read_numbers(text, {&scale->y, &scale->z});
                          },
                      .like = scale_example}),
        choice<&rx_options::primitive>("primitive",
                                       {{"auto", rx_primitive::automatic},
                                        {"triangle", rx_primitive::triangle},
                                        {"sphere", rx_primitive::sphere},
                                        {"box", rx_primitive::box}},
                                       "what stands for a key"),
        of_a_paper(choice<&rx_options::points>("points",
                                               {{"perpendicular", core::point_ray::perpendicular},
                                                {"offset", core::point_ray::offset},
                                                {"zero", core::point_ray::zero}},
                                               "rays of points")),
        of_a_paper(choice<&rx_options::ranges_from_zero>(
            "ranges", {{"offset", false}, {"zero", true}}, "where rays of ranges start")),
        of_a_paper(choice<&rx_options::hits>(
            "hits", {{"closest", core::ray_hits::closest}, {"any", core::ray_hits::any}},
            "what of a ray's hits is looked at")),
        of_a_paper(choice<&rx_options::compress>("duplicates",
                                                 {{"compress", true}, {"keep", false}},
                                                 "one primitive for equal keys, or one for each"))},
    scene_build_options<rx_options>,
    std::array{
        parts_option<rx_options>,
        of_a_paper(choice<&rx_options::instances>("top", {{"table", false}, {"instances", true}},
                                                  "what leads to the parts of a scene")),
        order_option<rx_options>,
        choice<&rx_options::inverse>(
            "inverse",
            {{"off", rx_inverse::off}, {"on", rx_inverse::on}, {"auto", rx_inverse::automatic}},
            "over what the scene is built: the keys, or the points of a batch"),
        choice<&rx_options::on_update>(
            "update", {{"rebuild", rx_update::rebuild}, {"refit", rx_update::refit}},
            "how an update changes the scene")});

inline constexpr auto cgrx_table = table_of<cgrx_options>(
    std::array{
        number<&cgrx_options::bucket>("bucket", {2, 65'536}, "entries of a bucket at the build"),
        option<&cgrx_options::node>("node", {{"off", 0}}, {2, core::most_node_entries},
                                    "buckets are lists of nodes with room for so many entries"),
        choice<&cgrx_options::entries>("layout",
                                       {{"column", cgrx_layout::column},
                                        {"aligned", cgrx_layout::aligned},
                                        {"packed", cgrx_layout::packed}},
                                       "how entries lie in memory"),
        choice<&cgrx_options::markers>("scene",
                                       {{"auto", not_given},
                                        {"spans", core::cgrx_markers::none},
                                        {"optimised", core::cgrx_markers::within},
                                        {"naive", core::cgrx_markers::apart}},
                                       "what stands for a bucket"),
        of_a_paper(choice<&cgrx_options::mapping>(
            "mapping", {{"fit", cgrx_mapping::fit}, {"bits", cgrx_mapping::bits}},
            "how keys become places")),
        of_a_paper(only_with("mapping=bits", bits_option<cgrx_options>)),
        of_a_paper(only_with("mapping=bits",
                             option_entry{.name = "scale",
                                          .meaning = scale_meaning,
                                          .text =
                                              [](const void* given) {
                                                const rx_scale& scale =
                                                    static_cast<const cgrx_options*>(given)->scale;
                                                return numbers_text({scale.y, scale.z});
                                              },
                                          .read =
                                              [](void* to, std::string_view text) {
                                                rx_scale& scale =
                                                    static_cast<cgrx_options*>(to)->scale;
                                                return read_numbers(text, {&scale.y, &scale.z});
                                              },
                                          .like = scale_example})),
        choice<&cgrx_options::search>("search",
                                      {{"auto", not_given},
                                       {"binary", core::bucket_search::binary},
                                       {"linear", core::bucket_search::linear},
                                       {"interpolated", core::bucket_search::interpolated}},
                                      "how a bucket is searched"),
        choice<&cgrx_options::cooperative_scan>("scan", {{"multi", true}, {"single", false}},
                                                "whether threads share a range's matches")},
    scene_build_options<cgrx_options>,
    std::array{parts_option<cgrx_options>, order_option<cgrx_options>,
               option<&cgrx_options::rebuild_at>(
                   "rebuild", {{"never", 0}}, {2, 1024},
                   "buckets this many times as large as at the build rebuild the scene")});

}  // namespace raydex
