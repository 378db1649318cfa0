// How a search orders what it finds: as Sphinx does, but sections called just as asked come first.
var Scorer = {
  score: ([, , anchor, , score]) => (anchor ? score + 10 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
