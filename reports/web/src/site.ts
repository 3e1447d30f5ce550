// Brings every page of a site to life; all of its pages share this script.
import { addHistory } from "./history/page";
import { addIndex } from "./history/index";
import "./page";

addHistory();
addIndex();
