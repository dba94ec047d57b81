// JSON is written by hand here, because gpu_bench must build without the JSON library. Keys stand
// in the order of the calls.
#include "calibrate/cuda/records.hpp"

#include <concepts>
#include <type_traits>

#include "base/quantity.hpp"

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

// A JSON list from texts of its items.
template <class Items, class Text> std::string list_of(const Items& items, Text text) {
  std::string out = "[";
  for (const auto& item : items) {
    out += (out.size() > 1 ? ", " : "") + text(item);
  }
  return out + "]";
}

} // namespace

// {"a": 1, ...} key by key.
class JsonLine {
public:
  JsonLine() = default;
  JsonLine(std::string_view record, bool same_device) {
    put("record", record);
    if (same_device) {
      put("where", kSameDevice);
    }
  }

  void raw(std::string_view key, const std::string& value) {
    out_ += (out_.empty() ? "{" : ", ") + quoted(key) + ": " + value;
  }
  void put(std::string_view key, std::string_view value, Need need = Need::always) {
    if (need != Need::if_known || !value.empty()) {
      raw(key, need == Need::or_null && value.empty() ? "null" : quoted(value));
    }
  }
  void put(std::string_view key, std::integral auto value, double = 0, Need need = Need::always) {
    if constexpr (std::is_same_v<decltype(value), bool>) {
      raw(key, value ? "true" : "false");
    } else if (need == Need::always || value != 0) {
      raw(key, std::to_string(value));
    }
  }
  template <class Value> void put(std::string_view key, const std::optional<Value>& value) {
    if (!value) {
      raw(key, "null");
    } else if constexpr (std::is_same_v<Value, double>) {
      raw(key, base::shortest(*value));
    } else {
      put(key, *value);
    }
  }
  void put(std::string_view key, const std::vector<double>& seconds) {
    raw(key, list_of(seconds, [](double each) { return base::significant(each, kDigits); }));
  }
  [[nodiscard]] std::string object() const { return out_ + "}"; }
  [[nodiscard]] std::string finish() const { return object() + "\n"; }

private:
  std::string out_;
};

namespace {

// Clocks, power and temperature tell whether the device was throttled; null where the driver does
// not say.
std::string state_text(const DeviceState& state) {
  JsonLine line;
  line.put("sm_clock_Hz", state.sm_clock_hz);
  line.put("memory_clock_Hz", state.memory_clock_hz);
  line.put("power_W", state.power_w);
  line.put("temperature_C", state.temperature_c);
  line.put("throttle_reasons", state.throttle_reasons);
  return line.object();
}

} // namespace

std::string text_of(const DeviceFacts& device) {
  JsonLine line;
  line.put("name", device.name);
  line.put("compute_capability", device.compute_capability);
  line.put("multiprocessors", device.multiprocessors);
  line.put("memory_bytes", device.memory_bytes);
  line.put("l2_bytes", device.l2_bytes);
  line.put("ecc", device.ecc);
  line.raw("before", state_text(device.before));
  return line.object();
}

// The first line: machine, versions and options, so that a file explains itself.
std::string line(const Header& header) {
  JsonLine line;
  line.put("schema_version", 1);
  line.put("kind", "gpu_samples");
  line.put("where", header.same_device ? kSameDevice : "", Need::if_known);
  line.put("program", header.program);
  line.put("revision", header.revision, Need::or_null);
  line.put("command", header.command);
  line.put("date", header.date);
  line.put("compiler", header.compiler);
  line.put("driver", header.driver, Need::or_null);
  line.put("cuda_runtime", header.cuda_runtime);
  line.put("cuda_driver", header.cuda_driver);
  line.put("ranks", header.ranks);
  line.put("seed", header.seed);
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

template <class Record> std::string line(const Record& record, bool same_device) {
  JsonLine line(Record::kWord, same_device);
  Record::keys(record, [&](std::string_view key, const auto& value, auto... how) {
    line.put(key, value, how...);
  });
  return line.finish();
}
template std::string line(const CollectiveRecord& record, bool same_device);
template std::string line(const KernelRecord& record, bool same_device);
template std::string line(const PairRecord& record, bool same_device);
template std::string line(const OverlapRecord& record, bool same_device);
template std::string line(const VerifiedRecord& record, bool same_device);
template std::string line(const UnusableRecord& record, bool same_device);

// A file without this line comes from a run that was killed.
std::string end_line(const std::vector<DeviceFacts>& devices, bool same_device,
                     const std::string& early) {
  JsonLine line("end", same_device);
  line.put("early", early, Need::or_null);
  line.raw("after",
           list_of(devices, [](const DeviceFacts& each) { return state_text(each.after); }));
  return line.finish();
}

std::string note_line(const std::string& note, bool same_device) {
  JsonLine line("note", same_device);
  line.put("text", note);
  return line.finish();
}

} // namespace stepsim::calibrate::gpu
