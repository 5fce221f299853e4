// SPDX-License-Identifier: Apache-2.0
#include "controller/list_proposer.hpp"

#include <map>

namespace kw {
namespace {

class ListProposer : public Proposer {
 public:
  ListProposer(std::string name, std::string where, std::vector<ListedProposal> list)
      : name_(std::move(name)), where_(std::move(where)), list_(std::move(list)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string where() const override { return where_; }
  [[nodiscard]] bool interrupts() const override { return true; }

  Result<Proposals> propose(const ProposalRequest& request) override {
    Proposals out;
    std::size_t& next = next_[request.regime];
    for (; next < list_.size() && static_cast<int>(out.proposals.size()) < request.count; ++next)
      if (list_[next].regime.empty() || list_[next].regime == request.regime)
        out.proposals.push_back(list_[next].proposal);
    return out;
  }

  void had(const std::string& regime, const Proposal& proposal) override {
    std::size_t& next = next_[regime];
    while (next < list_.size() && list_[next].proposal.source != proposal.source)
      ++next;
    next = std::min(next + 1, list_.size());
  }

 private:
  std::string name_, where_;
  std::vector<ListedProposal> list_;
  std::map<std::string, std::size_t> next_; ///< by regime
};

} // namespace

std::unique_ptr<Proposer> make_list_proposer(std::string name, std::string where,
                                             std::vector<ListedProposal> list) {
  return std::make_unique<ListProposer>(std::move(name), std::move(where), std::move(list));
}

} // namespace kw
