// The reader of traces gives the same recording, or the same error, whatever pieces the text comes
// in and however its letters are written; it refuses what nlohmann's parser refuses.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_samples.hpp"
#include "import/kineto/kineto_read.hpp"
#include "import/kineto_generator.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

const std::size_t kWindow = KinetoReadOptions{}.window;

// Everything that a recording holds, as text.
std::string shown(const KinetoRecording& recording) {
  std::string text;
  const auto add = [&text](auto value) { text += std::to_string(value) + ' '; };
  const auto add_text = [&text](const std::string& value) { text += value + '|'; };
  for (const KinetoEvent& event : recording.events) {
    for (const std::int64_t value :
         {event.begin, event.duration, event.correlation, event.external_id, event.sequence}) {
      add(value);
    }
    for (const std::int32_t value : {event.thread, event.name, event.detail}) {
      add(value);
    }
    add(static_cast<int>(event.category));
    text += '\n';
  }
  for (const std::string& name : recording.names) {
    add_text(name);
  }
  for (const KinetoCollective& call : recording.collectives) {
    for (const std::string& value : {call.op, call.dtype, call.group, call.input_dtype}) {
      add_text(value);
    }
    for (const std::int64_t value :
         {call.elements, call.out_elements, call.group_size, call.input_elements}) {
      add(value);
    }
  }
  for (const KinetoInputs& inputs : recording.inputs) {
    text += '[';
    for (const KinetoTensor& tensor : inputs) {
      add_text(tensor.dtype);
      add(tensor.elements);
      for (const std::int64_t size : tensor.shape) {
        add(size);
      }
    }
  }
  add_text(recording.device.value_or("-"));
  add(recording.world_size.value_or(-1));
  add(recording.rank.value_or(-1));
  add(static_cast<int>(recording.record_shapes));
  return text;
}

// The recording, or the error.
std::string result_of(std::string_view text, std::size_t window, std::size_t chunk) {
  const auto next = [&] {
    const std::string_view part = text.substr(0, chunk);
    text.remove_prefix(part.size());
    return part;
  };
  try {
    return shown(read_kineto(next, "t.json", {.window = window}));
  } catch (const InputError& error) {
    return error.what();
  }
}

// The same with a window that grows with every value.
std::string grown(std::string_view text) { return result_of(text, 1, 1000); }

// The error of nlohmann's parser; empty if it takes the text.
std::string parser_error(const std::string& text) {
  try {
    const auto unused = nlohmann::json::parse(text);
    return "";
  } catch (const nlohmann::json::exception& error) {
    std::string what = error.what();
    const std::size_t dash = what.find(" - ");
    what = dash == std::string::npos ? what.substr(what.find("] ") + 2) : what.substr(dash + 3);
    return what.substr(0, what.find("; "));
  }
}

// The same text with about a third of the letters inside strings written as escapes.
std::string escaped(const std::string& text, base::RandomStream& random) {
  std::string result;
  bool inside = false;
  for (const char c : text) {
    inside ^= c == '"';
    if (inside && c >= ' ' && c != '"' && c != '\\' && random.uniform() < 0.3) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<std::size_t>(c);
      result += std::string("\\u00") + kDigits[byte / 16] + kDigits[byte % 16];
    } else {
      result += c;
    }
  }
  return result;
}

KinetoGeneratorOptions random_options(base::RandomStream& random, std::uint64_t seed) {
  KinetoGeneratorOptions options;
  options.seed = seed;
  options.steps = static_cast<int>(random.integer(1, 2));
  options.layers = static_cast<int>(random.integer(1, 4));
  for (bool* flag :
       {&options.integer_stamps, &options.string_ids, &options.old_categories, &options.buckets,
        &options.shapes, &options.bare_array, &options.unrelated, &options.shuffled}) {
    *flag = random.uniform() < 0.5;
  }
  return options;
}

// What stands at a random place becomes something unusual or wrong.
std::string changed(std::string text, base::RandomStream& random) {
  static const std::vector<std::string> kParts{"\\u00e9",
                                               "\\ud83d\\ude00",
                                               "\\ud83d",
                                               "\\\"",
                                               "\\\\",
                                               "\\x",
                                               "\xc3\xa9",
                                               "\xff",
                                               "\x01",
                                               "\n",
                                               "\r\n  ",
                                               "1e3",
                                               "-0",
                                               "-1",
                                               "01",
                                               "1.",
                                               "1e999",
                                               ".5",
                                               "18446744073709551616",
                                               "9223372036854775808",
                                               "null",
                                               "true",
                                               "tru",
                                               "{}",
                                               "[]",
                                               "[[1]]",
                                               "[[[1, 2]], 3]",
                                               "\"ph\": \"X\", ",
                                               "\"ts\": \"x\", ",
                                               "\"args\": {}, ",
                                               "\"args\": 3, ",
                                               "{",
                                               "}",
                                               "[",
                                               "]",
                                               ",",
                                               ":",
                                               "\"",
                                               "\x7f"};
  const auto places = static_cast<int>(random.integer(1, 3));
  for (int i = 0; i < places; ++i) {
    const auto place = static_cast<std::size_t>(random.integer(0, std::ssize(text) - 1));
    const auto& part = kParts[static_cast<std::size_t>(random.integer(0, std::ssize(kParts) - 1))];
    const auto replaced = static_cast<std::size_t>(random.integer(0, 3));
    if (random.uniform() < 0.5) { // the value of a key
      const std::size_t colon = text.find("\": ", place);
      if (colon != std::string::npos) {
        const std::size_t end = text.find_first_of(",}", colon);
        text.replace(colon + 3, std::min(end, text.size()) - colon - 3, part);
        continue;
      }
    }
    text.replace(place, replaced, part);
  }
  return text;
}

// An event with the zero bytes that the scanner needs behind it. `event` has parts of it.
struct Read {
  explicit Read(const std::string& text) : padded(text + std::string(kTextPadding, '\0')) {
    const Scanned scanned = scan_event(padded.data(), 0, event);
    whole = scanned.end == padded.data() + text.size();
    stopped = scanned.end == nullptr ? scanned.stop - padded.data() : -1;
  }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;

  std::string padded;
  RawEvent event;
  bool whole = false;
  std::ptrdiff_t stopped = -1; // place of the error
};

} // namespace

TEST_CASE("kineto scanner: an event of the usual form is read whole") {
  const Read scanned(
      R"({ "ph": "X", "cat": "kernel", "name": "k<1>", "pid": 0, "tid": "stream 7",
    "ts": 1700000000123456.789, "dur": 12, "id": 3.25, "bp": [1, {"a": null}, true, "\"\\"],
    "args": {"External id": 17, "correlation": 18, "Sequence number": -1, "dtype": "Float",
             "Collective name": "allreduce", "In msg nelems": 5, "Out msg nelems": 6,
             "Group size": 8, "Process Group Name": "0", "grid": [1, 2, 3],
             "Input Dims": [[2, 3], [], 4, [[10], [20, 2]]], "Input type": ["float", ""]}})");
  REQUIRE(scanned.whole);
  const RawEvent& event = scanned.event;
  CHECK(event.complete);
  CHECK(event.category == "kernel");
  CHECK(event.name == "k<1>");
  CHECK(event.pid == "0");
  CHECK(event.tid == "stream 7");
  CHECK(event.ts.value == 1'700'000'000'123'456'789);
  CHECK(event.dur.value == 12'000);
  CHECK(event.event.external_id == 17);
  CHECK(event.event.correlation == 18);
  CHECK(event.event.sequence == -1);
  CHECK(event.collective == "allreduce");
  CHECK(event.elements == 5);
  CHECK(event.out_elements == 6);
  CHECK(event.group_size == 8);
  CHECK(event.group == "0");
  REQUIRE(event.shape_count == 4);
  CHECK(event.shapes[0].elements == 2 * 3);
  CHECK(event.shapes[1].elements == -1);
  CHECK(event.shapes[2].elements == -1);
  CHECK(event.shapes[3].elements == 10 + 20 * 2);
  CHECK(event.types.size() == 2);
}

TEST_CASE("kineto scanner: unusual texts, numbers and types are read as JSON says") {
  const auto name = [](const std::string& text) {
    const Read read("{\"name\": " + text + "}");
    CHECK(read.whole);
    return std::string(read.event.name);
  };
  CHECK(name(R"("caf\u00e9")") == "caf\xc3\xa9");
  CHECK(name("\"caf\xc3\xa9\"") == "caf\xc3\xa9");
  CHECK(name(R"("\ud83d\ude00\"\\")") == "\xf0\x9f\x98\x80\"\\");
  CHECK(name("3").empty());
  CHECK(name(R"({"name": "a"})").empty());
  CHECK(name(R"(["a"])").empty());
  CHECK(Read(R"({"n\u0061me": "a"})").event.name == "a");
  const auto time = [](const std::string& text) {
    const Read read("{\"ts\": " + text + "}");
    CHECK(read.whole);
    const RawTime& ts = read.event.ts;
    return ts.value ? std::to_string(*ts.value) : ts.shown;
  };
  CHECK(time("1e3") == "1000000");
  CHECK(time("0.0006") == "1");
  CHECK(time("1.25e-1") == "125");
  CHECK(time("9223372036854775.807") == "9223372036854775807");
  CHECK(time("9223372036854775.808") == "9223372036854775.808");
  CHECK(time("-0") == "0");
  CHECK(time("-1") == "-1");
  CHECK(time("18446744073709551616") == "18446744073709551616");
  CHECK(time("null") == "null");
  CHECK(time("false") == "false");
  CHECK(time("[1]") == "an array");
  CHECK(time(R"({"ts": 1})") == "an object");
  CHECK(time(R"("\u0031")") == "\"1\"");
  const auto pid = [](const std::string& text) {
    return std::string(Read("{\"pid\": " + text + "}").event.pid);
  };
  CHECK(pid("12") == "12");
  CHECK(pid("-0") == "0");
  CHECK(pid("-9223372036854775808") == "-9223372036854775808");
  CHECK(pid("1.5").empty());
  CHECK(pid("9223372036854775808").empty());
  CHECK(pid("null").empty());
  const Read read(R"({"args": 3, "args": {"correlation": "1", "External id": 1.0, "dtype": 3,
    "Group size": -7, "Collective name": null, "In msg nelems": 1000000000000000000,
    "Out msg nelems": 9223372036854775808, "Sequence number": [1], "Input type": [1, "a", ["b"]],
    "Input Dims": [[2, null, [[9], 3]], "x", 1.5, null, true, {"a": [5]}, [[]], 7]}})");
  REQUIRE(read.whole);
  CHECK(read.event.event.correlation == -1);
  CHECK(read.event.event.external_id == -1);
  CHECK(read.event.event.sequence == -1);
  CHECK(read.event.group_size == -7);
  CHECK(read.event.elements == 1'000'000'000'000'000'000);
  CHECK(read.event.out_elements == -1);
  CHECK(read.event.dtype.empty());
  CHECK(read.event.types.size() == 1);
  REQUIRE(read.event.shape_count == 5); // of these: two tensors, null, true, 7
  CHECK(read.event.shapes[0].elements == 2 + 3);
  CHECK(read.event.shapes[3].elements == 1);
}

TEST_CASE("kineto scanner: a text that is not JSON stops the scanner within the text") {
  for (const char* text :
       {R"({"a": 01})", R"({"a": 1.})", R"({"a": .5})", R"({"a": -})", R"({"a": nul})",
        R"({"a": "\x"})", R"({"a": "\ud83d"})", "{\"a\": \"\n\"}", "{\"a\": \"\xff\"}",
        R"({"a": 1,})", R"({"a" 1})", R"({"a": [1,]})", R"({"a": 1e})", R"({"a": 1e999})",
        R"({"ts": 1e999})", R"({a: 1})", R"({,})", R"({"a": +1})"}) {
    CAPTURE(text);
    const Read read(text);
    CHECK(read.stopped >= 0);
    CHECK(read.stopped < std::ssize(std::string_view(text)));
    CHECK_FALSE(nlohmann::json::accept(text));
  }
}

TEST_CASE("kineto scanner: every prefix of an event stops the scanner at its end") {
  const std::string text =
      R"({"ph": "X", "name": "a\u00e9", "ts": 1.25e1, "tid": -3, "args": {"a": [1, {"b": "\n"}]}})";
  for (std::size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(Read(text.substr(0, size)).stopped >= static_cast<std::ptrdiff_t>(size));
  }
}

TEST_CASE("kineto scanner: 1000 generated traces give the same recording in windows of any size") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({seed, 0, 0, 0, 31});
    const std::string text = generate_kineto(random_options(random, seed)).text;
    const std::string expected = grown(text);
    CHECK(result_of(text, kWindow, 65536) == expected);
    CHECK(result_of(text, 600, 100) == expected);
    CHECK(result_of(escaped(text, random), kWindow, 65536) == expected);
    CHECK(result_of(text, static_cast<std::size_t>(random.integer(2, 3000)),
                    static_cast<std::size_t>(random.integer(1, 3000))) == expected);
  }
}

TEST_CASE("kineto scanner: one trace in windows of every size up to 1500 bytes") {
  KinetoGeneratorOptions options;
  options.steps = 1;
  options.layers = 2;
  options.shapes = options.unrelated = true;
  const std::string text = generate_kineto(options).text;
  const std::string expected = grown(text);
  for (std::size_t window = 1; window <= 1500; ++window) {
    CAPTURE(window);
    REQUIRE(result_of(text, window, 1 + window % 97) == expected);
  }
}

TEST_CASE("kineto threads: the same number in another process is another thread") {
  // More threads than are remembered from the last events, in every order of two.
  const std::vector<std::pair<std::string, std::string>> threads{
      {"1", "1"}, {"2", "1"}, {"1", "2"}, {"12", "3"}, {"1", "23"}, {"3", "1"}, {"4", "1"}};
  std::string text = "[";
  std::vector<std::int32_t> expected;
  const auto add = [&](std::size_t thread) {
    text += text.size() == 1 ? "" : ",";
    text += R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"pid":)" + threads[thread].first +
            R"(,"tid":")" + threads[thread].second + R"("})";
    expected.push_back(static_cast<std::int32_t>(thread));
  };
  for (std::size_t first = 0; first < threads.size(); ++first) {
    add(first);
  }
  for (std::size_t first = 0; first < threads.size(); ++first) {
    for (std::size_t second = 0; second < threads.size(); ++second) {
      add(first);
      add(second);
    }
  }
  text += "]";
  bool given = false;
  const KinetoRecording recording = read_kineto(
      [&] { return std::exchange(given, true) ? std::string_view() : std::string_view(text); },
      "t.json");
  std::vector<std::int32_t> found;
  std::ranges::transform(recording.events, std::back_inserter(found), &KinetoEvent::thread);
  CHECK(found == expected);
}

TEST_CASE("kineto parser: of a list of types no more is kept than counts") {
  const auto peak_bytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
  };
  constexpr int kParts = 4000; // of 1,000 types each: kept, they are 32 bytes a type
  std::string types;
  for (int i = 0; i < 1000; ++i) {
    types += R"("a",)";
  }
  const std::string begin =
      R"([{"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":1,"dur":1,)"
      R"("args":{"Input type":[)";
  const double before = peak_bytes();
  int part = -1;
  const KinetoRecording recording = read_kineto(
      [&]() -> std::string_view {
        ++part;
        return part == 0            ? std::string_view(begin)
               : part <= kParts     ? std::string_view(types)
               : part == kParts + 1 ? std::string_view(R"("a"]}}])")
                                    : std::string_view();
      },
      "t.json", {.most_events = 10});
  CHECK(recording.events.size() == 1);
  CHECK(peak_bytes() - before < 0.5 * 32 * 1000 * kParts);
}

TEST_CASE("kineto scanner: a list among the events is none") {
  const std::string event = R"({"ph":"X","cat":"kernel","pid":1,"tid":1,"ts":1,"dur":1,"name":")";
  const std::string lists =
      "[" + event + R"(a"},)" + event + R"(b"},[],[{"name":"c"}],["ts",null]])";
  const std::string plain = "[" + event + R"(a"},)" + event + R"(b"}])";
  CHECK(grown(lists) == grown(plain));
  CHECK(result_of(lists, kWindow, 65536) == grown(plain));
}

TEST_CASE("kineto scanner: changed traces give a recording, or the error of nlohmann's parser") {
  int errors = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({seed, 0, 0, 0, 32});
    const std::string text =
        changed(generate_kineto(random_options(random, seed % 20)).text, random);
    const std::string expected = grown(text);
    errors += expected.starts_with("t.json") ? 1 : 0;
    if (const std::string error = parser_error(text); !error.empty()) {
      CAPTURE(error);
      REQUIRE(expected.starts_with("t.json"));
      // The time of an earlier event may be wrong as well.
      REQUIRE((expected.ends_with(error) || expected.find("/traceEvents/") < 12 ||
               expected.find(": /") < 12));
    }
    REQUIRE(result_of(text, kWindow, 65536) == expected);
    REQUIRE(result_of(text, static_cast<std::size_t>(random.integer(100, 3000)), 777) == expected);
  }
  CHECK(errors > 150); // both kinds are there
  CHECK(errors < 1350);
}

TEST_CASE("kineto scanner: every sample gives the same recording in windows of any size") {
  int files = 0;
  for (const char* folder : {"kineto", "traces"}) {
    const std::string path = sample(folder);
    if (absent(path)) {
      return;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      const std::string file = entry.path().string();
      if (!entry.is_regular_file() || file.find(".json") == std::string::npos ||
          entry.file_size() > 1'300'000) {
        continue;
      }
      CAPTURE(file);
      std::string text;
      try {
        text = read_text(file);
      } catch (const InputError&) { // an archive of several files
        continue;
      }
      const std::string expected = grown(text);
      REQUIRE(result_of(text, kWindow, 65536) == expected);
      if (entry.file_size() < 300'000) {
        REQUIRE(result_of(text, 5000, 3000) == expected);
      }
      ++files;
    }
  }
  CHECK(files >= 10);
}

TEST_CASE("kineto scanner: a compressed trace is read as the plain one") {
  const TemporaryFolder folder;
  KinetoGeneratorOptions options;
  options.layers = 40;
  options.unrelated = true;
  const std::string text = generate_kineto(options).text;
  const std::string file = (std::filesystem::path(folder.put("t.json", text)).string()) + ".gz";
  write_file(file, text);
  ByteSource bytes(file);
  CHECK(shown(read_kineto([&] { return bytes.next(); }, "t.json")) == grown(text));
}
