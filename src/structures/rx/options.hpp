// SPDX-License-Identifier: Apache-2.0
// The options of rx.
#pragma once

#include <array>

#include "raydex/rx.hpp"
#include "src/structures/shared/scene_options.hpp"

namespace raydex {

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

}  // namespace raydex
