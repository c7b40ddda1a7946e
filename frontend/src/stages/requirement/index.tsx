import { Picture } from "../Picture";
import { type Choice, labelIn, type StageView } from "../stage";

const choices: readonly Choice[] = [
  { answer: "box", label: "At least one box can be drawn", key: "1" },
  { answer: "scene", label: "It is the scene or a place", key: "2" },
  { answer: "nobox", label: "No box can be drawn", key: "3" },
];

/** Box Requirement: can a box be drawn for the phrase at all? */
export const requirement: StageView = {
  choices,
  goesOn: () => true,
  answerLabel: (answer) => labelIn(choices, answer),
  Picture,
};
