// Package check finds what is wrong with the pages under the roots of a
// configuration, at file:line:col and with the cure, before a visitor does.
//
// [Run] walks the root of each site as serving would reach it: dot names and
// files that no URL leads to are passed over, links are followed where serving
// follows them, and each file is looked at once. (A folder that is not served
// is not gone into, though a link in it may lead back.) Of each file it says
//
//   - that it cannot be read, or is too large to be assembled;
//   - every problem that package ssi finds, where the site runs directives in
//     the file: by its media type, [site.ssi] and the rules of its URLs;
//   - every include without variables that nothing can answer: no published
//     page, no origin;
//   - includes without variables that lead in a loop, once a loop.
//
// What a page does not get to see because of it is a problem; what is allowed
// and yet hardly meant is a warning.
//
// Files are read one after the other, and nothing of them is kept but what
// identifies them and where their includes lead. Nobody is asked over a network.
package check
