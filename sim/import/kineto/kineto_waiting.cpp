// Clocks are aligned by a constant, or by a line where that halves what is left.
#include "import/kineto/kineto_summary.hpp"

#include <cmath>

#include "base/collected.hpp"
#include "base/statistics.hpp"

namespace stepsim::io {

namespace {

using Calls = std::vector<const CollectiveCall*>;

// With a kernel, by process group in launch order.
std::map<std::string, Calls> calls_by_group(const KinetoRank& rank) {
  std::map<std::string, Calls> groups;
  for (const CollectiveCall& call : rank.calls) {
    if (call.kernels > 0 && ends_together(call.op.get())) {
      groups[call.group].push_back(&call);
    }
  }
  return groups;
}

// Ranks may send different numbers of values in an all-to-all.
bool same_collective(const CollectiveCall& a, const CollectiveCall& b) {
  return a.op == b.op && a.dtype == b.dtype && (a.elements == b.elements || a.op == "alltoall");
}

// By collective, the calls of all ranks; groups in the order of the first rank's launches.
std::vector<Calls> aligned_calls(std::span<const KinetoRank> ranks,
                                 std::vector<std::string>& notes) {
  std::vector<std::map<std::string, Calls>> by_rank = base::collected<std::map<std::string, Calls>>(
      ranks, [](const KinetoRank& rank) { return calls_by_group(rank); });
  std::vector<Calls> aligned;
  for (const auto& [group, first] : by_rank.front()) {
    std::size_t count = first.size();
    for (std::size_t r = 1; r < ranks.size(); ++r) {
      const auto other = by_rank[r].find(group);
      const std::size_t most = other == by_rank[r].end() ? 0 : other->second.size();
      std::size_t same = 0;
      while (same < std::min(first.size(), most) &&
             same_collective(*first[same], *other->second[same])) {
        ++same;
      }
      if (same < std::max(first.size(), most) && most > 0) {
        notes.push_back(fmt::format("collectives of {} differ from those of {} behind the first {}",
                                    ranks[r].file, ranks.front().file, same));
      }
      count = std::min(count, same);
    }
    for (std::size_t c = 0; c < count; ++c) {
      Calls calls;
      for (auto& groups : by_rank) {
        calls.push_back(groups.at(group)[c]);
      }
      aligned.push_back(std::move(calls));
    }
  }
  std::ranges::sort(aligned, {}, [](const Calls& calls) { return calls.front()->begin; });
  return aligned;
}

struct Clock { // added to the stamps of a rank, ns; `slope` per ns since `origin`
  Nanoseconds offset{};
  double slope = 0;
  Nanoseconds origin{};

  [[nodiscard]] Nanoseconds align(Nanoseconds time) const {
    return time + offset + std::llround(slope * static_cast<double>(time - origin));
  }
};

std::vector<Clock> constant_clocks(const std::vector<Calls>& calls) {
  std::vector<Clock> clocks(calls.front().size());
  for (std::size_t r = 1; r < clocks.size(); ++r) {
    std::vector<Nanoseconds> differences = base::collected<Nanoseconds>(
        calls, [&](const Calls& each) { return each.front()->kernel_end - each[r]->kernel_end; });
    clocks[r].offset = median_time(std::move(differences));
  }
  return clocks;
}

// Least squares of what the constants leave.
std::vector<Clock> drifting_clocks(const std::vector<Calls>& calls, std::vector<Clock> clocks) {
  for (std::size_t r = 1; r < clocks.size(); ++r) {
    clocks[r].origin = calls.front()[r]->kernel_end;
    std::vector<double> time;
    std::vector<double> left;
    for (const Calls& each : calls) {
      time.push_back(static_cast<double>(each[r]->kernel_end - clocks[r].origin));
      left.push_back(
          static_cast<double>(each.front()->kernel_end - each[r]->kernel_end - clocks[r].offset));
    }
    if (std::ranges::min(time) == std::ranges::max(time)) {
      continue; // no line goes through one time
    }
    const base::LineFit line = base::fit_line(time, left);
    clocks[r].slope = line.slope;
    clocks[r].offset += std::llround(line.intercept);
  }
  return clocks;
}

// How far the aligned ends of a collective lie apart, in the median.
double median_residual(const std::vector<Calls>& calls, const std::vector<Clock>& clocks) {
  std::vector<double> residuals;
  for (const Calls& each : calls) {
    Nanoseconds low = clocks.front().align(each.front()->kernel_end);
    Nanoseconds high = low;
    for (std::size_t r = 1; r < each.size(); ++r) {
      low = std::min(low, clocks[r].align(each[r]->kernel_end));
      high = std::max(high, clocks[r].align(each[r]->kernel_end));
    }
    residuals.push_back(static_cast<double>(high - low));
  }
  return base::median(residuals);
}

SeparatedCollective separate(const Calls& calls, const std::vector<Clock>& clocks) {
  SeparatedCollective result;
  result.call = calls.front();
  std::vector<Nanoseconds> starts;
  Nanoseconds end = clocks.front().align(calls.front()->kernel_end);
  for (std::size_t r = 0; r < calls.size(); ++r) {
    starts.push_back(clocks[r].align(calls[r]->kernel_begin));
    end = std::max(end, clocks[r].align(calls[r]->kernel_end));
  }
  const auto last = std::ranges::max_element(starts);
  result.last = static_cast<std::size_t>(last - starts.begin());
  result.transfer = std::max<Nanoseconds>(end - *last, 0);
  for (std::size_t r = 0; r < calls.size(); ++r) {
    result.duration.push_back(calls[r]->kernel_end - calls[r]->kernel_begin);
    result.wait.push_back(std::clamp<Nanoseconds>(*last - starts[r], 0, result.duration.back()));
  }
  return result;
}

} // namespace

bool ends_together(std::string_view op) {
  return op == "allreduce" || op == "allgather" || op == "reduce_scatter" || op == "alltoall";
}

Waiting separate_waiting(std::span<const KinetoRank> ranks) {
  Waiting result;
  if (ranks.size() < 2) {
    const bool several = ranks.front().world_size.value_or(1) > 1;
    if (several && !calls_by_group(ranks.front()).empty()) {
      result.notes.emplace_back("one rank: communication times contain waiting; add the other "
                                "ranks' files");
    }
    return result;
  }
  const std::vector<Calls> calls = aligned_calls(ranks, result.notes);
  if (calls.empty()) {
    return result;
  }
  std::vector<Clock> clocks = constant_clocks(calls);
  double residual = median_residual(calls, clocks);
  if (calls.size() >= 3 && residual > 0) {
    std::vector<Clock> lines = drifting_clocks(calls, clocks);
    if (const double left = median_residual(calls, lines); 2 * left <= residual) {
      clocks = std::move(lines);
      residual = left;
    }
  }
  std::vector<double> durations;
  for (const Calls& each : calls) {
    for (const CollectiveCall* call : each) {
      durations.push_back(static_cast<double>(call->kernel_end - call->kernel_begin));
    }
  }
  if (residual > 20e3 || residual > 0.05 * base::median(durations)) {
    result.notes.push_back(fmt::format("ends of collectives do not agree (by {:.1f} us): waiting "
                                       "is not separated from communication",
                                       residual / 1e3));
    return result;
  }
  for (const Calls& each : calls) {
    result.collectives.push_back(separate(each, clocks));
  }
  return result;
}

layers::MeasuredTransfer transfer_of(const Waiting& waiting,
                                     const std::vector<const CollectiveCall*>& calls) {
  std::vector<double> transfers;
  std::vector<std::vector<double>> waits;
  for (const SeparatedCollective& each : waiting.collectives) {
    const bool asked = std::ranges::any_of(calls, [&](const CollectiveCall* call) {
      return call->begin == each.call->begin && call->thread == each.call->thread &&
             call->order == each.call->order;
    });
    if (!asked) {
      continue;
    }
    transfers.push_back(static_cast<double>(each.transfer));
    waits.resize(each.wait.size());
    for (std::size_t r = 0; r < waits.size(); ++r) {
      waits[r].push_back(static_cast<double>(each.wait[r]));
    }
  }
  layers::MeasuredTransfer result;
  if (transfers.empty()) {
    return result;
  }
  const auto seconds = [](double nanoseconds) { return Seconds{nanoseconds / 1e9}; };
  result.median = seconds(base::median(transfers));
  for (const std::vector<double>& wait : waits) {
    result.wait.push_back(seconds(base::median(wait)));
  }
  if (transfers.size() >= 5) {
    std::ranges::sort(transfers);
    result.low = seconds(base::quantile(transfers, 0.05));
    result.high = seconds(base::quantile(transfers, 0.95));
  }
  return result;
}

void add_wait_checks(const Waiting& waiting, layers::Checks& checks) {
  if (waiting.collectives.empty()) {
    return;
  }
  const std::size_t ranks = waiting.collectives.front().wait.size();
  std::vector<double> waited(ranks);
  std::vector<double> lasted(ranks);
  checks.last_rank.assign(ranks, 0);
  for (const SeparatedCollective& each : waiting.collectives) {
    for (std::size_t r = 0; r < ranks; ++r) {
      waited[r] += static_cast<double>(each.wait[r]);
      lasted[r] += static_cast<double>(each.duration[r]);
    }
    checks.last_rank[each.last] += 1.0 / static_cast<double>(waiting.collectives.size());
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    checks.wait_fraction.push_back(lasted[r] > 0 ? waited[r] / lasted[r] : 0);
  }
}

} // namespace stepsim::io
