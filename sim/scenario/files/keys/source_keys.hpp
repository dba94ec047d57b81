#pragma once
// The keys that all files of measured numbers have: the input, the program that wrote the file, the
// licence (IO 2), and what the program had to assume. Importers and stepsim-calibrate write them;
// readers copy them to results, so that a user can trace a number to the file it was measured in.

#include "document/fields/key.hpp"

namespace stepsim::io::keys {

using namespace rows;

inline constexpr std::array kSourceFile{
    text("name", "Name of the file, without its folder.", R"("rank0.json.gz")").required(),
    integer("bytes", "Size of the file, bytes.", at_least(0), "7").by_default(0),
    text("sha256", "SHA-256 of the file's content, in hexadecimal digits.", R"("00")")};
inline constexpr std::array kSourceFiles{object("files", kSourceFile, "One input file.")};

inline constexpr std::array kSourceKeys{
    text("format", "Format of the input.", R"("kineto")"),
    list("files", kSourceFiles, "Input files.",
         R"([{"name": "rank0.json.gz", "bytes": 7, "sha256": "00"}])"),
    text("importer", "Program that read the input, and its version.", R"("stepsim 0.1.0")"),
    object("options", {}, "Options that the program was given, by their names.",
           R"({"skip-steps": "1"})")
        .open(),
    text("attribution", "Whom to credit for the input.", R"("NVIDIA")").nullable(),
    text("licence", "Licence of the input.", R"("MIT")").nullable()};

inline constexpr Key kSource =
    object("source", kSourceKeys, "Which input the file was made from, and by which program.",
           R"({"format": "kineto"})");

inline constexpr std::array kWarning{text("warnings", "One warning.", R"("the GPU was idle")")};
inline constexpr Key kWarnings =
    list("warnings", kWarning, "What was guessed or left out, and what looks wrong.",
         R"(["the GPU was idle"])");

} // namespace stepsim::io::keys
