// stepsim web -o whatif.html: the page of the build, with a trace of the user's inside it where one
// is given.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/shell/entry.hpp"
#include "document/file.hpp"
#include "scenario/files.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array kWebFormats{Format::html, Format::json};
constexpr std::uint64_t kMostBytes = 64'000'000;

constexpr CommandText kWebText{
    "web",
    "[-o whatif.html]",
    "Writes the what-if page: the simulator itself in one file, which a browser opens without a\n"
    "network. Sliders for the cluster and the exchange give the step, where its time goes, the\n"
    "throughput over GPUs and what would help most, and the scenario that stepsim run takes.",
    "stepsim web -o whatif.html\n"
    "stepsim web --trace mine.trace.json -o whatif.html",
    "The page is described in docs/web.md; --json gives its size and version.",
    kWebFormats,
};

// The last element of its kind in the page, which is empty there.
constexpr std::string_view kOwnTrace = R"(<script type="application/json" id="own-trace">)";

std::string page_of_build(const Invocation& invocation) {
  namespace fs = std::filesystem;
  const fs::path name = "whatif.html";
  for (const fs::path& folder : {fs::path(program_folder()), fs::path(invocation.data_folder)}) {
    std::error_code error;
    if (const fs::path page = folder / name; fs::is_regular_file(page, error)) {
      return io::read_text(page.string(), kMostBytes);
    }
  }
  throw UsageError("web: this build has no page; ./quickstart web in the folder of the sources "
                   "installs emscripten and makes it");
}

// A trace as the page holds it. "</script>" in a name would end the element.
std::string embedded_trace(const Invocation& invocation, const std::string& file) {
  const io::Json name(file);
  study::Files files(invocation.data_folder);
  const std::string path = files.trace(name).second; // what is no trace is refused here
  std::string text = io::compact(io::Object{
      {"file", std::filesystem::path(path).filename().string()}, {"trace", io::read_json(path)}});
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 1)) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

} // namespace

int web_page(const Invocation& invocation) {
  std::string trace;
  CLI::App app;
  add_value(app, "--trace", trace, "FILE",
            "layer times of your training, as stepsim import writes them: the page starts "
            "with them");
  Common common(app, kWebText, invocation);
  std::string page = page_of_build(invocation);
  if (!trace.empty()) {
    const std::size_t place = page.find(kOwnTrace);
    if (place == std::string::npos) {
      throw SimulationError(
          "web: the page has no place for a trace; it is that of another version");
    }
    page.insert(place + kOwnTrace.size(), embedded_trace(invocation, trace));
  }
  const io::Json facts = io::Object{{"version", std::string(version())},
                                    {"bytes", static_cast<std::int64_t>(page.size())},
                                    {"trace", trace.empty() ? io::Json() : io::Json(trace)}};
  return write_document(common, {.text = [&] { return page; }, .tree = [&] { return facts; }},
                        Format::html);
}

} // namespace stepsim::cli
