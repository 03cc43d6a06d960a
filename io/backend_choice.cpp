// SPDX-License-Identifier: Apache-2.0
#include "io/backend_choice.hpp"

#include <algorithm>

#include "io/known_words.hpp"
#include "raydex/rmq.hpp"

namespace raydex::io {

namespace {

template <class Capability>
std::vector<backend_offer> offers_of(const std::vector<Capability>& all) {
  std::vector<backend_offer> offers;
  for (const Capability& able : all)
    offers.push_back({able.structure, able.where, able.available, able.updates});
  return offers;
}

}  // namespace

std::vector<backend_offer> key_offers() {
  return offers_of(capabilities());
}
std::vector<backend_offer> rmq_offers() {
  return offers_of(rmq_capabilities());
}

void check_structure(std::string_view name, const std::vector<backend_offer>& offers) {
  std::vector<std::string> known{"auto"};
  for (const backend_offer& offer : offers) {
    if (offer.structure != known.back()) known.push_back(offer.structure);
  }
  check_structure_name(name, known);
}

backend choose_backend(std::string_view name, const std::vector<backend_offer>& offers,
                       std::string_view structure, bool updates) {
  const std::string backends[] = {"auto", "cpu", "cuda", "optix"};
  check_word("backend", name, backends);
  check_structure(structure, offers);
  if (name != "auto") return parse_backend(name);
  for (const backend where : {backend::cuda, backend::optix, backend::cpu}) {
    const auto serves = [&](const backend_offer& offer) {
      return offer.where == where && offer.available &&
             (structure == "auto" || structure == offer.structure) && (offer.updates || !updates);
    };
    if (std::ranges::any_of(offers, serves)) return where;
  }
  return parse_backend(name);
}

}  // namespace raydex::io
