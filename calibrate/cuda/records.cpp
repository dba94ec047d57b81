// JSON is written by hand here, because gpu_bench must build without the JSON library. Keys stand
// in the order of the calls.
#include "calibrate/cuda/records.hpp"

#include <array>
#include <string_view>

#include "base/number_text.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kDigits = 7; // of times: CUDA events are floats

// RFC 8259: quotes, backslashes and control characters are escaped.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

// {"a": 1, ...} key by key.
class Line {
public:
  Line(std::string_view record, bool same_device) {
    text("record", record);
    if (same_device) {
      text("where", kSameDevice);
    }
  }
  Line() = default;

  void raw(std::string_view key, const std::string& value) {
    out_ += (out_.empty() ? "{" : ", ") + quoted(key) + ": " + value;
  }
  void text(std::string_view key, std::string_view value) { raw(key, quoted(value)); }
  void text_or_null(std::string_view key, std::string_view value) {
    raw(key, value.empty() ? "null" : quoted(value));
  }
  void integer(std::string_view key, std::int64_t value) { raw(key, std::to_string(value)); }
  void number(std::string_view key, const std::optional<double>& value) {
    raw(key, value ? base::shortest(*value) : "null");
  }
  void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
  void times(std::string_view key, const std::vector<double>& seconds) {
    std::string list = "[";
    for (const double each : seconds) {
      list += (list.size() > 1 ? ", " : "") + base::significant(each, kDigits);
    }
    raw(key, list + "]");
  }
  [[nodiscard]] std::string object() const { return out_ + "}"; }
  [[nodiscard]] std::string finish() const { return object() + "\n"; }

private:
  std::string out_;
};

// A JSON list from texts of its items.
template <class Items, class Text> std::string list_of(const Items& items, Text text) {
  std::string out = "[";
  for (const auto& item : items) {
    out += (out.size() > 1 ? ", " : "") + text(item);
  }
  return out + "]";
}

// Clocks, power and temperature tell whether the device was throttled; null where the driver does
// not say.
std::string state_text(const DeviceState& state) {
  Line line;
  line.number("sm_clock_Hz", state.sm_clock_hz);
  line.number("memory_clock_Hz", state.memory_clock_hz);
  line.number("power_W", state.power_w);
  line.number("temperature_C", state.temperature_c);
  line.raw("throttle_reasons",
           state.throttle_reasons ? std::to_string(*state.throttle_reasons) : "null");
  return line.object();
}

} // namespace

std::string text_of(const DeviceFacts& device) {
  Line line;
  line.text("name", device.name);
  line.text("compute_capability", device.compute_capability);
  line.integer("multiprocessors", device.multiprocessors);
  line.integer("memory_bytes", device.memory_bytes);
  line.integer("l2_bytes", device.l2_bytes);
  line.raw("ecc", device.ecc ? (*device.ecc ? "true" : "false") : "null");
  line.raw("before", state_text(device.before));
  return line.object();
}

// The first line: machine, versions and options, so that a file explains itself.
std::string line(const Header& header) {
  Line line;
  line.integer("schema_version", 1);
  line.text("kind", "gpu_samples");
  if (header.same_device) {
    line.text("where", kSameDevice);
  }
  line.text("program", header.program);
  line.text_or_null("revision", header.revision);
  line.text("command", header.command);
  line.text("date", header.date);
  line.text("compiler", header.compiler);
  line.text_or_null("driver", header.driver);
  line.text("cuda_runtime", header.cuda_runtime);
  line.text("cuda_driver", header.cuda_driver);
  line.integer("ranks", header.ranks);
  line.integer("seed", static_cast<std::int64_t>(header.seed));
  if (!header.hosts.empty()) {
    line.raw("hosts",
             list_of(header.hosts, [](std::uint32_t host) { return std::to_string(host); }));
  }
  line.raw("devices",
           header.device_of_rank.empty()
               ? list_of(header.devices, [](const DeviceFacts& each) { return text_of(each); })
               : list_of(header.device_of_rank, [](const std::string& each) { return each; }));
  line.raw("peer_access", list_of(header.peer_access, [](const std::vector<bool>& row) {
             return list_of(row, [](bool each) { return std::string(each ? "true" : "false"); });
           }));
  return line.finish();
}

std::string line(const CollectiveRecord& record, bool same_device) {
  Line line("collective", same_device);
  line.text("op", record.op);
  line.text("algorithm", record.algorithm);
  line.text("variant", record.variant);
  line.text("launch", record.launch);
  line.integer("ranks", record.ranks);
  line.integer("bytes", record.bytes);
  if (record.block_bytes > 0) {
    line.integer("block_bytes", record.block_bytes);
  }
  line.integer("sets", record.sets);
  if (!record.cache.empty()) {
    line.text("cache", record.cache);
  }
  line.integer("pass", record.pass);
  line.integer("repeats", record.repeats);
  line.times("time_s", record.time_s);
  return line.finish();
}

std::string line(const KernelRecord& record, bool same_device) {
  Line line("kernel", same_device);
  line.text("kernel", record.kernel);
  line.text("distribution", record.distribution);
  line.integer("n", record.n);
  line.integer("k", record.k);
  line.integer("achieved_k", record.achieved_k);
  line.number("mass_kept", record.mass_kept);
  if (record.lost > 0) {
    line.integer("lost", record.lost);
  }
  if (!record.cache.empty()) {
    line.text("cache", record.cache);
  }
  line.integer("pass", record.pass);
  line.integer("repeats", record.repeats);
  line.times("time_s", record.time_s);
  return line.finish();
}

std::string line(const VerifiedRecord& record, bool same_device) {
  Line line("verified", same_device);
  line.text("what", record.what);
  line.integer("cases", record.cases);
  return line.finish();
}

std::string line(const UnusableRecord& record, bool same_device) {
  Line line("unusable", same_device);
  line.text("variant", record.variant);
  line.text("launch", record.launch);
  line.text("reason", record.reason);
  line.boolean("wrong", record.wrong);
  return line.finish();
}

std::string line(const PairRecord& record, bool same_device) {
  Line line("pair", same_device);
  line.text("kind", record.kind);
  line.text("variant", record.variant);
  line.text("launch", record.launch);
  line.integer("src", record.src);
  line.integer("dst", record.dst);
  line.integer("bytes", record.bytes);
  line.integer("pass", record.pass);
  line.integer("repeats", record.repeats);
  line.times("time_s", record.time_s);
  return line.finish();
}

// A file without this line comes from a run that was killed.
std::string end_line(const std::vector<DeviceFacts>& devices, bool same_device,
                     const std::string& early) {
  Line line("end", same_device);
  line.text_or_null("early", early);
  line.raw("after",
           list_of(devices, [](const DeviceFacts& each) { return state_text(each.after); }));
  return line.finish();
}

std::string note_line(const std::string& note, bool same_device) {
  Line line("note", same_device);
  line.text("text", note);
  return line.finish();
}

} // namespace stepsim::calibrate::gpu
