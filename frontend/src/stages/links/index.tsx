import { Picture } from "../Picture";
import { type Choice, labelIn, type StageView } from "../stage";

const choices: readonly Choice[] = [
  { answer: "yes", label: "Yes", key: "y" },
  { answer: "no", label: "No", key: "n" },
];

/** Coreference Links: do two phrases from two captions refer to the same thing? */
export const links: StageView = {
  choices,
  goesOn: () => true,
  answerLabel: (answer) => labelIn(choices, answer),
  Picture,
};
