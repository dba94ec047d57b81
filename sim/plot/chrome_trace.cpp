// Events are appended to one text, which goes to the sink whenever it has grown to a block. Only
// names, which are few, are collected beforehand.
#include "plot/chrome_trace.hpp"

#include <cassert>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/json_text.hpp"

namespace stepsim::plot {

using namespace io;

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;

std::int64_t nanoseconds(Seconds time) {
  assert(time.value >= 0 && "timelines start at 0");
  constexpr double kLargest = 9e9; // seconds; nanoseconds below 2^63
  if (!(time.value < kLargest)) {
    throw SimulationError("the timeline holds times above 9e9 s, which its format cannot show");
  }
  return std::llround(time.value * 1e9);
}

class EventWriter {
public:
  explicit EventWriter(const Sink& sink) : sink_(sink) {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  }

  // {"ph":"X","pid":1,"tid":0,"name":"..." ; closed by `end`.
  void begin(char phase, std::uint32_t node, std::uint32_t lane, std::string_view name) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += "{\"ph\":\"";
    text_ += phase;
    text_ += "\",\"pid\":";
    base::append_integer(text_, node);
    text_ += ",\"tid\":";
    base::append_integer(text_, lane);
    text_ += ",\"name\":";
    append_compact(text_, name);
  }

  // The format counts microseconds. Whole nanoseconds are printed with three decimals by integers,
  // so that no digit is rounded.
  // ,"key":12.345 in microseconds
  void microseconds(std::string_view key, std::int64_t nanos) {
    raw(key);
    base::append_integer(text_, nanos / 1000);
    const std::string decimals = std::to_string(1000 + nanos % 1000);
    text_.append(".").append(decimals, 1);
  }

  void member(std::string_view key, const Json& value) {
    raw(key);
    append_compact(text_, value);
  }

  void end() {
    text_ += '}';
    if (text_.size() >= kBlock) {
      flush();
    }
  }

  void finish() {
    text_ += "\n]}\n";
    flush();
  }

private:
  void raw(std::string_view key) { text_.append(",\"").append(key).append("\":"); }
  void flush() {
    sink_(text_);
    text_.clear();
  }

  const Sink& sink_;
  std::string text_;
  bool first_ = true;
};

// Viewers sort processes by their index, which makes node 10 follow node 9 and not node 1.
void write_names(EventWriter& out, const events::Timeline& timeline) {
  std::set<std::uint32_t> shown;
  for (const auto& [track, name] : timeline.lane_names) {
    shown.insert(track.node);
  }
  for (const events::Span& span : timeline.spans) {
    shown.insert(span.track.node);
  }
  for (const events::CounterPoint& point : timeline.counters) {
    shown.insert(point.node);
  }
  for (const std::uint32_t node : shown) {
    const bool named = node < timeline.node_names.size();
    out.begin('M', node, 0, "process_name");
    out.member("args", Object{{"name", named ? timeline.node_names[node]
                                             : "node " + std::to_string(node)}});
    out.end();
    out.begin('M', node, 0, "process_sort_index");
    out.member("args", Object{{"sort_index", static_cast<std::int64_t>(node)}});
    out.end();
  }
  for (const auto& [track, name] : timeline.lane_names) {
    out.begin('M', track.node, track.lane, "thread_name");
    out.member("args", Object{{"name", name}});
    out.end();
    out.begin('M', track.node, track.lane, "thread_sort_index");
    out.member("args", Object{{"sort_index", static_cast<std::int64_t>(track.lane)}});
    out.end();
  }
}

// The duration is the difference of two rounded times, not a rounded difference: neighbours then
// meet without gaps or overlaps.
void write_spans(EventWriter& out, const events::Timeline& timeline) {
  for (const events::Span& span : timeline.spans) {
    const std::int64_t start = nanoseconds(span.start);
    out.begin('X', span.track.node, span.track.lane, span.name);
    out.member("cat", span.category);
    out.microseconds("ts", start);
    out.microseconds("dur", nanoseconds(span.end) - start);
    Object details;
    for (const auto& [key, text] : span.texts) {
      details.emplace_back(key, text);
    }
    for (const auto& [key, number] : span.numbers) {
      details.emplace_back(key, number);
    }
    if (!details.empty()) {
      out.member("args", std::move(details));
    }
    out.end();
  }
}

// An arrow is two events with one id; "bp":"e" ties its head to the span that encloses it.
void write_arrows(EventWriter& out, const events::Timeline& timeline) {
  std::int64_t id = 0;
  for (const events::Arrow& arrow : timeline.arrows) {
    out.begin('s', arrow.from.node, arrow.from.lane, arrow.name);
    out.member("cat", "gradient");
    out.member("id", id);
    out.microseconds("ts", nanoseconds(arrow.from_time));
    out.end();
    out.begin('f', arrow.to.node, arrow.to.lane, arrow.name);
    out.member("cat", "gradient");
    out.member("id", id);
    out.member("bp", "e");
    out.microseconds("ts", nanoseconds(arrow.to_time));
    out.end();
    ++id;
  }
}

} // namespace

void write_timeline(const events::Timeline& timeline, const Sink& sink) {
  EventWriter out(sink);
  write_names(out, timeline);
  write_spans(out, timeline);
  write_arrows(out, timeline);
  for (const events::CounterPoint& point : timeline.counters) {
    out.begin('C', point.node, 0, point.name);
    out.microseconds("ts", nanoseconds(point.time));
    out.member("args", Object{{point.name, point.value}});
    out.end();
  }
  out.finish();
}

} // namespace stepsim::plot
