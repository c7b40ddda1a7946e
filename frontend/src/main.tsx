import "./styles/colours.css";
import "./styles/base.css";
import "./styles/task.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { render } from "preact";
import { App } from "./App";
import type { Page } from "./protocol";

const data = document.getElementById("page")?.textContent;
const root = document.getElementById("task");
if (root && data) render(<App page={JSON.parse(data) as Page} />, root);
