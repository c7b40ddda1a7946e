import { Picture } from "../Picture";
import { type Choice, labelIn, type StageView } from "../stage";

const choices: readonly Choice[] = [
  { answer: "true", label: "True", key: "t" },
  { answer: "false", label: "False", key: "f" },
];

/** Chain Verification: do all marked phrases refer to the same thing? */
export const verification: StageView = {
  choices,
  goesOn: () => true,
  answerLabel: (answer) => labelIn(choices, answer),
  Picture,
};
