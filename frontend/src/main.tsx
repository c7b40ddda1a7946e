import { render } from "preact";

render(<p>Not yet.</p>, document.body);
