// Simplify a file of indexing maps as XLA prints them: one after the other, on one line each or on several.
//
//   simplify_maps FILE
//
// Simplified maps go to standard output, one line each, in the order of the file.  A map that the library leaves alone
// is printed as it stands.  What is no map is reported as FILE:LINE:COLUMN, and the exit code is 1.
#include <fstream>
#include <iostream>
#include <string>

#include "indexproof.h"

int main(int count, char** arguments) {
  std::ifstream file;
  if (count == 2) file.open(arguments[1]);
  if (!file) {
    std::cerr << "usage: simplify_maps FILE\n";
    return 2;
  }
  indexproof::Context context;
  std::string map, line;
  std::size_t number = 0, first = 0, maps = 0, left = 0, wrong = 0;

  auto finish = [&] {
    if (map.empty()) return;
    maps++;
    auto status = context.simplify(map);
    auto& output = context.output();
    if (status == INDEXPROOF_OK) {
      std::cout << context.data() << '\n';
    } else if (status == INDEXPROOF_UNSUPPORTED) {
      left++;
      std::cout << map;
    } else {
      wrong++;
      std::cerr << arguments[1] << ':' << first + output.line - 1 << ':' << output.column << ": " << output.message << '\n';
    }
    map.clear();
  };

  while (std::getline(file, line)) {
    number++;
    // a map begins at the margin, with its variables
    if (line.find("->") != line.npos && line.front() == '(') {
      finish();
      first = number;
    }
    if (line.find_first_not_of(" \t\r") == line.npos) finish();
    else map += line + '\n';
  }
  finish();
  std::cerr << maps << " maps, " << left << " left as they are, " << wrong << " malformed\n";
  return wrong != 0;
}
