// The XML of a machine: what of it is read, and what is refused.
#include "import/nccl/nccl_system.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string failure(std::string_view text) {
  try {
    (void)read_nccl_system(text, "t.xml");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 1);
    const std::string what = error.what();
    CHECK(what.starts_with("t.xml:"));
    return what.substr(6);
  }
  return "no error";
}

const std::string kNot = "this is not XML, says its parser: ";

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

// The ids of the nodes, with the lines of their tags: "cpu0@1 1:0@2".
std::string nodes_of(std::string_view text) {
  std::string list;
  for (const NcclNode& node : read_nccl_system(text, "t.xml").nodes) {
    list += (list.empty() ? "" : " ") + node.id + '@' + std::to_string(node.line);
  }
  return list;
}

} // namespace

TEST_CASE("nccl system: elements, attributes in either quotes, nesting, lines") {
  CHECK(nodes_of("<system/>") == "");
  CHECK(nodes_of("<system><cpu numaid='1'/><cpu numaid = \"2\" /></system>") == "cpu1@1 cpu2@1");
  CHECK(nodes_of("<system>\n <cpu arch=\"'\">\r\n\t<pci busid='1:0' class='\"'></pci >\n<pci\n "
                 "busid='2:0'/></cpu>\n</system>\n") == "cpu0@2 1:0@3 2:0@4");
}

TEST_CASE("nccl system: declaration, byte order mark and comments are skipped, lines count on") {
  CHECK(nodes_of("\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<!-- <b> & -- \n-->"
                 "<system><!----><cpu/></system><!-- end -->") == "cpu0@3");
}

TEST_CASE("nccl system: the five entities; blanks in values become spaces") {
  const NcclSystem system = read_nccl_system(
      "<system><cpu arch='&lt;&gt;&amp;&quot;&apos;' vendor='1\n2\r\n3'/></system>", "t.xml");
  CHECK(system.nodes.at(0).arch == "<>&\"'");
  CHECK(system.nodes.at(0).vendor == "1 2 3");
  CHECK_FALSE(system.nodes.at(0).family);
}

TEST_CASE("nccl system: what is no XML is named with its line") {
  CHECK(failure("\n<a><!ELEMENT b></a>") == "2: " + kNot + "Could not determine tag type");
  CHECK(failure("<pci>\n<gpu>\n</pci>") == "3: " + kNot + "Start-end tags mismatch");
  CHECK(failure("<a>\n<b>\n") == "2: " + kNot + "Start-end tags mismatch");
  CHECK(failure("<a x='1'\ny=2/>") == "2: " + kNot + "Error parsing element attribute");
  CHECK(failure("<a x='1'y='2'/>") == "1: " + kNot + "Error parsing element attribute");
  CHECK(failure("") == "1: " + kNot + "No document element found");
  CHECK(failure("hello") == "1: " + kNot + "No document element found");
  CHECK(failure("<a/>\n<b/>") == "2: a document has one outermost element, <a> is closed");
  CHECK(failure(std::string_view("<a/>\n\0", 6)) == "2: a zero byte is not a character of XML");
  CHECK(failure(std::string_view("\xff\xfe<\0a\0/\0>\0", 10)) ==
        "1: a zero byte is not a character of XML"); // UTF-16
}

TEST_CASE("nccl system: depth and number of elements are limited") {
  const auto nested = [](std::size_t depth) {
    return repeated("<a>", depth) + repeated("</a>", depth);
  };
  CHECK_NOTHROW((void)nodes_of("<system>" + nested(kMaxXmlDepth - 1) + "</system>"));
  CHECK(failure(nested(kMaxXmlDepth + 1)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(100'000)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(1'000'000)) == "1: more than 262144 tags and comments");
  CHECK_NOTHROW((void)nodes_of("<system>" + repeated("<a/>", kMaxXmlElements - 1) + "</system>"));
  CHECK(failure("<r>" + repeated("<a/>", kMaxXmlElements) + "</r>") ==
        "1: more than 65536 elements");
}
