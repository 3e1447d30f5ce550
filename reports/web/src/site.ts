// Makes all pages of a site interactive; they share this script.
import { addHistory } from "./history/page";
import { addIndex } from "./history/index";
import "./page";

addHistory();
addIndex();
