// Lists of commands, and the known order between them.
#include "kernels/cpu/runtime/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/cpu/runtime/stream.h"

namespace parbench::cpu {

std::size_t Capture::add(CpuStream& stream) {
  work_->lanes.push_back({&stream, {}});
  pasts_.emplace_back();
  for (Past& past : pasts_) past.resize(pasts_.size());
  return pasts_.size() - 1;
}

void Capture::enqueue(std::size_t lane, const Command& command) {
  work_->lanes[lane].commands.push_back(command);
  ++pasts_[lane][lane];
}

void Capture::record(std::size_t lane, CpuEvent& event) {
  work_->events.push_back(std::make_unique<CpuEvent>(EventKind::ordering));
  CpuEvent* own = work_->events.back().get();
  work_->lanes[lane].commands.push_back({.kind = Command::Kind::record, .event = own});
  event.announce_captured({weak_from_this(), marks_.size()});
  marks_.push_back({own, pasts_[lane]});
}

void Capture::wait(std::size_t lane, const CapturedRecord& record) {
  const Mark& mark = marks_.at(record.mark);
  work_->lanes[lane].commands.push_back({.kind = Command::Kind::wait, .event = mark.event});
  // `mark.past` does not contain lanes that were added later.
  for (std::size_t i = 0; i < mark.past.size(); ++i) {
    pasts_[lane][i] = std::max(pasts_[lane][i], mark.past[i]);
  }
}

std::shared_ptr<const CapturedWork> Capture::finish() {
  for (std::size_t lane = 1; lane < pasts_.size(); ++lane) {
    if (pasts_.front()[lane] == pasts_[lane][lane]) continue;
    throw std::logic_error(
        fmt::format("{} is not joined at the end of the capture; let {} wait for an event that "
                    "follows its last work",
                    work_->lanes[lane].stream->name(), work_->lanes.front().stream->name()));
  }
  return std::move(work_);
}

}  // namespace parbench::cpu
