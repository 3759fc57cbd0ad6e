// Every part of the board that has a script of its own: the pages, the panes of an attempt, and what opens over them.

import { later } from "./later";

export const BoardPage = later(() => import("../board/BoardPage").then((it) => it.BoardPage));
export const InboxPage = later(() => import("../inbox/InboxPage").then((it) => it.InboxPage));
export const AttemptPage = later(() => import("../attempt/AttemptPage").then((it) => it.AttemptPage));
export const TaskPage = later(() => import("../task/TaskPage").then((it) => it.TaskPage));
export const ComparePage = later(() => import("../landing/ComparePage").then((it) => it.ComparePage));
export const SettingsPage = later(() => import("../settings/SettingsPage").then((it) => it.SettingsPage));
export const Welcome = later(() => import("../welcome/Welcome").then((it) => it.Welcome));
export const LoginPage = later(() => import("../welcome/LoginPage").then((it) => it.LoginPage));

export const Changes = later(() => import("../changes/Changes").then((it) => it.Changes));
export const Preview = later(() => import("../changes/Preview").then((it) => it.Preview));
export const Runs = later(() => import("../attempt/runs/Runs").then((it) => it.Runs));
export const Snapshots = later(() => import("../attempt/snapshots/Snapshots").then((it) => it.Snapshots));
export const LandingStrip = later(() => import("../landing/LandingStrip").then((it) => it.LandingStrip));

export const Peek = later(() => import("../board/Peek").then((it) => it.Peek));
export const Palette = later(() => import("./Palette").then((it) => it.Palette));
export const KeysHelp = later(() => import("./KeysHelp").then((it) => it.KeysHelp));
export const TaskDialog = later(() => import("../task/TaskDialog").then((it) => it.TaskDialog));
export const StartDialog = later(() => import("../task/StartDialog").then((it) => it.StartDialog));
export const AddProject = later(() => import("../projects/AddProject").then((it) => it.AddProject));
