#include "document/file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/sha256.hpp"
#include "document/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string read_error(const std::string& path, std::uint64_t max_bytes = kDefaultMaxBytes) {
  try {
    (void)read_text(path, max_bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string random_text(std::size_t size) {
  base::RandomStream random({.seed = 3});
  std::string text;
  while (text.size() < size) {
    text += std::to_string(random.bits());
  }
  text.resize(size);
  return text;
}

} // namespace

TEST_CASE("a file is read as it is, in any number of chunks") {
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 2U, 65535U, 65536U, 65537U, 1'000'000U}) {
    const std::string text = random_text(size);
    CHECK(read_text(folder.put("a.txt", text)) == text);
  }
}

TEST_CASE("gzip is recognised by content and written by name") {
  const TemporaryFolder folder;
  const std::string text = random_text(1'000'000);
  write_file(folder.file("a.gz"), text);
  CHECK(std::filesystem::file_size(folder.file("a.gz")) < 600'000);
  CHECK(read_text(folder.file("a.gz")) == text);
  std::filesystem::rename(folder.file("a.gz"), folder.file("a.txt"));
  CHECK(read_text(folder.file("a.txt")) == text);
}

TEST_CASE("several gzip members and zero padding are one stream, other bytes are an error") {
  const TemporaryFolder folder;
  write_file(folder.file("a.gz"), "one ");
  write_file(folder.file("b.gz"), "two");
  std::string both;
  for (const char* name : {"a.gz", "b.gz"}) {
    std::ifstream in(folder.file(name), std::ios::binary);
    both.append(std::istreambuf_iterator<char>(in), {});
  }
  CHECK(read_text(folder.put("both", both)) == "one two");
  CHECK(read_text(folder.put("padded", both + std::string(1000, '\0'))) == "one two");
  CHECK(read_error(folder.put("x", both + "x")) == folder.file("x") +
                                                       ": bytes that are no gzip stream at byte " +
                                                       std::to_string(both.size()));
}

TEST_CASE("a truncated or damaged gzip stream names the byte") {
  const TemporaryFolder folder;
  write_file(folder.file("a.gz"), random_text(500'000));
  std::ifstream in(folder.file("a.gz"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  CHECK(read_error(folder.put("cut", bytes.substr(0, 100'000))) ==
        folder.file("cut") + ": gzip stream ends at byte 100000");
  CHECK(read_error(folder.put("two", bytes.substr(0, 2))) ==
        folder.file("two") + ": gzip stream ends at byte 2");
  bytes[bytes.size() - 6] ^= 1; // in the stored checksum
  CHECK(read_error(folder.put("sum", bytes))
            .starts_with(folder.file("sum") + ": gzip checksum does not match"));
}

TEST_CASE("what cannot be read is named with the reason") {
  const TemporaryFolder folder;
  CHECK(read_error(folder.file("none")) ==
        folder.file("none") + ": cannot read: no such file or directory");
  CHECK(read_error(folder.file(".")) == folder.file(".") + ": cannot read: is a directory");
}

TEST_CASE("a bomb ends at the limit of inflated bytes") {
  const TemporaryFolder folder;
  write_file(folder.file("bomb.gz"), std::string(8'000'000, '0'));
  CHECK(std::filesystem::file_size(folder.file("bomb.gz")) < 100'000);
  CHECK(read_error(folder.file("bomb.gz"), 1'000'000) ==
        folder.file("bomb.gz") + ": larger than 1000000 bytes");
}

TEST_CASE("the digest is of the file's own bytes") {
  const TemporaryFolder folder;
  write_file(folder.file("a.gz"), "content");
  std::ifstream in(folder.file("a.gz"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  ByteSource source(folder.file("a.gz"), 100, true);
  while (!source.next().empty()) {}
  CHECK(source.digest() == sha256(bytes));
  CHECK(source.file_bytes() == bytes.size());
}

TEST_CASE("an output appears only when it is complete") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.file("out.json"));
    file.write("half");
    CHECK(!std::filesystem::exists(folder.file("out.json")));
  }
  CHECK(folder.files() == 0);
  write_file(folder.file("out.json"), "first");
  write_file(folder.file("out.json"), "second");
  CHECK(read_text(folder.file("out.json")) == "second");
  CHECK(folder.files() == 1);
}

TEST_CASE("a symbolic link stays one and its target is replaced") {
  const TemporaryFolder folder;
  write_file(folder.file("target"), "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(read_text(folder.file("target")) == "new");
}

TEST_CASE("a link to nothing stays one and the file that it names is made") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(read_text(folder.file("target")) == "new");
  std::filesystem::create_symlink("circle", folder.file("circle"));
  CHECK_THROWS_AS(write_file(folder.file("circle"), "new"), SimulationError);
}

TEST_CASE("a file that is replaced keeps its mode") {
  const TemporaryFolder folder;
  write_file(folder.file("private"), "old");
  const auto mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(folder.file("private"), mode);
  write_file(folder.file("private"), "new");
  CHECK(std::filesystem::status(folder.file("private")).permissions() == mode);
  CHECK(read_text(folder.file("private")) == "new");
}

TEST_CASE(
    "what a killed process left beside a target is removed, what a living one writes is not") {
  const TemporaryFolder folder;
  (void)folder.put("out.unfinished", "half");
  (void)folder.put("out.unfinished-2", "half");
  {
    OutputFile first(folder.file("out"));
    OutputFile second(folder.file("out"));
    CHECK(folder.files() == 2); // theirs
    second.write("second");
    second.commit();
    first.write("first");
    first.commit();
  }
  CHECK(folder.files() == 1);
  CHECK(read_text(folder.file("out")) == "first");
}

TEST_CASE("a growing file keeps its content and is nobody else's") {
  const TemporaryFolder folder;
  (void)folder.put("out", "one");
  OutputFile file(folder.file("out"), OutputFile::Mode::grow);
  CHECK(file.size() == 3);
  file.write(", two");
  CHECK(read_text(folder.file("out")) == "one, two");
  for (const auto mode : {OutputFile::Mode::grow, OutputFile::Mode::replace}) {
    CHECK_THROWS_WITH_AS(OutputFile(folder.file("out"), mode),
                         doctest::Contains("out: is being written by "), SimulationError);
  }
  {
    OutputFile dropped = file.begin_rewrite();
    dropped.write("three");
  }
  CHECK(read_text(folder.file("out")) == "one, two");
  OutputFile copy = file.begin_rewrite();
  copy.write("three");
  file.end_rewrite(std::move(copy));
  file.write(", four"); // goes on in the new file, which is locked too
  CHECK(read_text(folder.file("out")) == "three, four");
  CHECK_THROWS_AS(write_file(folder.file("out"), "five"), SimulationError);
  file.cut(5);
  file.write("!");
  file.commit();
  CHECK(read_text(folder.file("out")) == "three!");
  write_file(folder.file("out"), "five");
  CHECK(folder.files() == 1);
}

TEST_CASE("two names of one file are the same file, also through links") {
  const TemporaryFolder folder;
  (void)folder.put("a", "text");
  (void)folder.put("b", "text");
  std::filesystem::create_symlink("a", folder.file("soft"));
  std::filesystem::create_hard_link(folder.file("a"), folder.file("hard"));
  for (const char* name : {"a", "./a", "soft", "hard"}) {
    CHECK(same_file(folder.file("a"), folder.file(name)));
  }
  CHECK(!same_file(folder.file("a"), folder.file("b")));
  CHECK(!same_file(folder.file("a"), folder.file("none")));
  CHECK(!same_file("/dev/null", "/dev/null")); // nothing there to protect
}

TEST_CASE("a full disk and an impossible target are simulation errors") {
  CHECK_THROWS_WITH_AS(write_file("/dev/full", "text"),
                       "/dev/full: write failed: No space left on device", SimulationError);
  CHECK_THROWS_WITH_AS(write_file("/nowhere/out", "text"),
                       "/nowhere/out: write failed: there is no folder /nowhere", SimulationError);
  CHECK_THROWS_WITH_AS(write_file("/tmp", "text"), "/tmp: write failed: Is a directory",
                       SimulationError);
  write_file("/dev/null", "text");
  CHECK(!std::filesystem::is_regular_file("/dev/null"));
}

TEST_CASE("a name inside a file is relative to that file") {
  CHECK(relative_to("a/b.json", "c.json") == "a/c.json");
  CHECK(relative_to("b.json", "c.json") == "c.json");
  CHECK(relative_to("a/b.json", "/x/c.json") == "/x/c.json");
  CHECK(relative_to("", "c.json") == "c.json");
}
