// Reading ahead gives the bytes and the errors of reading without a thread.
#include "import/read_ahead.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "document/file.hpp"
#include "document/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

// All bytes, then the error if there is one; `ahead` reads in a thread.
std::string bytes_then_error(const std::string& path, bool ahead, std::uint64_t max_bytes) {
  std::string text;
  try {
    ByteSource source(path, max_bytes);
    if (ahead) {
      ReadAhead reader(source);
      for (std::string_view part = reader.next(); !part.empty(); part = reader.next()) {
        text += part;
        CHECK(reader.file_bytes() <= std::filesystem::file_size(path));
      }
      CHECK(reader.next().empty());
      CHECK(reader.file_bytes() == source.file_bytes());
    } else {
      for (std::string_view part = source.next(); !part.empty(); part = source.next()) {
        text += part;
      }
    }
  } catch (const InputError& error) {
    text += error.what();
  }
  return text;
}

std::string repetitive_text(std::size_t size) {
  base::RandomStream random({.seed = 11});
  std::string text;
  while (text.size() < size) {
    text += "word" + std::to_string(random.integer(0, 99)) + ' ';
  }
  return text;
}

} // namespace

TEST_CASE("reading ahead: files of any size, plain, compressed, damaged and too long") {
  const TemporaryFolder folder;
  for (const std::size_t size : {0U, 1U, 65536U, 3'000'000U}) {
    CAPTURE(size);
    const std::string text = repetitive_text(size);
    const std::string plain = folder.put("a.txt", text);
    const std::string packed = folder.file("a.gz");
    write_file(packed, text);
    std::ifstream in(packed, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::string cut = folder.put("cut.gz", bytes.substr(0, bytes.size() / 2));
    for (const std::string& path : {plain, packed, cut, folder.file(".")}) {
      CAPTURE(path);
      for (const std::uint64_t most : {kDefaultMaxBytes, std::uint64_t{1'000'000}}) {
        CHECK(bytes_then_error(path, true, most) == bytes_then_error(path, false, most));
      }
    }
    CHECK(bytes_then_error(packed, true, kDefaultMaxBytes) == text);
  }
}

TEST_CASE("reading ahead: a reader that wants no more ends the thread") {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.txt", repetitive_text(5'000'000));
  for (int used = 0; used < 4; ++used) {
    ByteSource source(path);
    ReadAhead reader(source);
    for (int i = 0; i < used; ++i) {
      CHECK_FALSE(reader.next().empty());
    }
  }
}

TEST_CASE("reading ahead: a pipe is read in the caller's thread") {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  const std::string text(1000, 'a'); // long enough to be told from an archive
  REQUIRE(::write(ends[1], text.data(), text.size()) == 1000);
  {
    ByteSource source("/dev/fd/" + std::to_string(ends[0]));
    ReadAhead reader(source);
    CHECK(reader.next() == text);
  } // ends though nobody has closed the pipe
  ::close(ends[0]);
  ::close(ends[1]);
}
