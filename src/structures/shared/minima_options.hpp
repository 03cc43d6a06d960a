// SPDX-License-Identifier: Apache-2.0
// Options that all structures for minima have.
#pragma once

#include <array>

#include "raydex/rmq.hpp"
#include "src/interface/option_table.hpp"

namespace raydex {

template <class Options>
inline constexpr std::array asked_options{
    choice<&Options::ties>("ties",
                           {{"leftmost", rmq_ties::leftmost}, {"rightmost", rmq_ties::rightmost}},
                           "which of equal values counts"),
    choice<&Options::extreme>(
        "extreme", {{"minimum", rmq_extreme::minimum}, {"maximum", rmq_extreme::maximum}},
        "which value of a range is asked for")};

}  // namespace raydex
