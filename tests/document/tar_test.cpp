// Archives as input (INP 2.1): one file is opened, several are an error that lists them.
#include "document/tar.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/file.hpp"
#include "document/tar_builder.hpp"
#include "document/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// The content of the first file, with the archive given in pieces of `step` bytes.
std::string content_of(std::string_view archive, std::size_t step) {
  TarStream tar("a.tar");
  std::string content;
  for (std::size_t at = 0; at < archive.size(); at += step) {
    std::string_view piece = archive.substr(at, step);
    for (std::string_view part = tar.take(piece); !part.empty(); part = tar.take(piece)) {
      content += part;
    }
  }
  tar.finish();
  return content;
}

std::string failure(std::string_view archive, std::size_t step = 512) {
  try {
    return "content " + content_of(archive, step);
  } catch (const InputError& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("tar: the one file of an archive, whatever its size and the pieces") {
  for (const std::size_t size : {0U, 1U, 511U, 512U, 513U, 5000U}) {
    const std::string text(size, 'x');
    const std::string archive = tar_entry("d/", "", '5') + tar_entry("d/a.json", text) + tar_end();
    for (const std::size_t step : {1U, 7U, 512U, 10000U}) {
      CHECK(content_of(archive, step) == text);
    }
    // The zeros at the end may be missing.
    CHECK(content_of(tar_entry("a.json", text), 512) == text);
  }
}

TEST_CASE("tar: folders, links and what macOS adds are no files") {
  CHECK(content_of(tar_entry("./._a.json", "attributes") + tar_entry("__MACOSX/b", "more") +
                       tar_entry("a.json", "{}") + tar_entry("link", "", '2') + tar_end(),
                   512) == "{}");
  CHECK(failure(tar_entry("d/", "", '5') + tar_end()) == "a.tar: tar archive without files");
}

TEST_CASE("tar: several files are an error that lists them, with long names") {
  const std::string two = tar_entry("a.json", "{}") + tar_entry("b\x1b.json", "[]");
  CHECK(failure(two + tar_end()) == "a.tar: tar archive of 2 files: unpack it and give the files "
                                    "that belong together: a.json, b\\x1b.json");
  CHECK(failure(tar_entry("x", "20 path=folder/long\n", 'x') + tar_entry("short", "1") +
                tar_entry("L", std::string("gnu\0", 4), 'L') + tar_entry("cut", "2") + tar_end()) ==
        "a.tar: tar archive of 2 files: unpack it and give the files that belong together: "
        "folder/long, gnu");
  std::string many;
  for (int i = 0; i < 12; ++i) {
    many += tar_entry(std::to_string(i), "");
  }
  CHECK(failure(many).ends_with("0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..."));
}

TEST_CASE("tar: a damaged or cut archive names the byte") {
  const std::string one = tar_entry("a.json", std::string(600, 'x'));
  std::string flipped = one + one;
  flipped[3 * 512] ^= 1;
  CHECK(failure(flipped) == "a.tar: tar archive with a damaged header at byte 1536");
  CHECK(failure(one.substr(0, 700)) == "a.tar: tar archive ends at byte 700");
  CHECK(failure(one.substr(0, 300)) == "a.tar: tar archive ends at byte 300");
  CHECK(failure(tar_entry("x", "99999 path=a\n", 'x')) ==
        "a.tar: tar archive with a damaged header at byte 13");
}

TEST_CASE("tar: files are opened by content, packed or not") {
  const TemporaryFolder folder;
  const std::string archive = tar_entry("a.json", "[1, 2]") + tar_end();
  CHECK(read_text(folder.put("a.json", archive)) == "[1, 2]");
  write_file(folder.file("b.gz"), archive);
  CHECK(read_text(folder.file("b.gz")) == "[1, 2]");
  // All files are listed before the content of the first one is given.
  ByteSource source(folder.put("c.tar", tar_entry("a", "1") + tar_entry("b", "2") + tar_end()));
  CHECK_THROWS_WITH_AS(
      (void)source.next(),
      (folder.file("c.tar") +
       ": tar archive of 2 files: unpack it and give the files that belong together: a, b")
          .c_str(),
      InputError);
}
