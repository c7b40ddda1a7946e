import { Picture } from "../Picture";
import { type Choice, labelIn, type StageView } from "../stage";

const choices: readonly Choice[] = [
  { answer: "yes", label: "True", key: "t" },
  { answer: "no", label: "False", key: "f" },
];

/** Box Coverage: have all boxes been drawn? */
export const coverage: StageView = {
  choices,
  goesOn: () => true,
  answerLabel: (answer) => labelIn(choices, answer),
  Picture,
};
