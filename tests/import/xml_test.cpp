#include "import/nccl/xml.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string failure(std::string_view text) {
  try {
    (void)parse_xml(text, "t.xml");
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

// "<a x="1"><b/></a>": the tree in one line, with lines of tags as NAME@LINE.
std::string shape(const XmlElement& element) {
  std::string text = element.name + '@' + std::to_string(element.line);
  for (const auto& [name, value] : element.attributes) {
    text += ' ' + name + '=' + value;
  }
  if (!element.children.empty()) {
    text += " (";
    for (const XmlElement& child : element.children) {
      text += shape(child) + ';';
    }
    text += ')';
  }
  return text;
}

} // namespace

TEST_CASE("xml: elements, attributes in either quotes, nesting, lines") {
  CHECK(shape(parse_xml("<a/>", "")) == "a@1");
  CHECK(shape(parse_xml("<a x='1' y = \"2\" />", "")) == "a@1 x=1 y=2");
  CHECK(shape(parse_xml("<a>\n <b k=\"'\"/>\r\n\t<c k='\"'></c >\n</a>\n", "")) ==
        "a@1 (b@2 k=';c@3 k=\";)");
  CHECK(shape(parse_xml("<a\n x='1'\n><b/></a>", "")) == "a@1 x=1 (b@3;)");
}

TEST_CASE("xml: declaration, byte order mark and comments are skipped, the lines count on") {
  CHECK(shape(parse_xml("\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<!-- <b> & -- \n-->"
                        "<a><!----><b/></a><!-- end -->",
                        "")) == "a@3 (b@3;)");
}

TEST_CASE("xml: the five entities; blanks in values become spaces") {
  const XmlElement root = parse_xml("<a t='&lt;&gt;&amp;&quot;&apos;' u='1\n2\r\n3'/>", "");
  CHECK(*root.find("t") == "<>&\"'");
  CHECK(*root.find("u") == "1 2 3");
  CHECK(root.find("v") == nullptr);
}

TEST_CASE("xml: what is no XML is named with its line") {
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

TEST_CASE("xml: depth and number of elements are limited") {
  const auto nested = [](std::size_t depth) {
    return repeated("<a>", depth) + repeated("</a>", depth);
  };
  CHECK_NOTHROW((void)parse_xml(nested(kMaxXmlDepth), ""));
  CHECK(failure(nested(kMaxXmlDepth + 1)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(100'000)) == "1: nested deeper than 64 levels");
  CHECK(failure(nested(1'000'000)) == "1: more than 262144 tags and comments");
  CHECK_NOTHROW((void)parse_xml("<r>" + repeated("<a/>", kMaxXmlElements - 1) + "</r>", ""));
  CHECK(failure("<r>" + repeated("<a/>", kMaxXmlElements) + "</r>") ==
        "1: more than 65536 elements");
}
