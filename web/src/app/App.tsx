// The pages and their addresses. What is not needed for the first look is loaded when it is asked for.

import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, Suspense } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { Boundary } from "../ui/Boundary";
import { NotHere } from "../ui/NotHere";
import { Loading } from "../ui/Nothing";
import { Frame } from "./Frame";
import { AttemptPage, BoardPage, ComparePage, InboxPage, SettingsPage, TaskPage, Welcome } from "./parts";
import { queries } from "./queries";

export function App() {
  const [location] = useLocation();
  return (
    <QueryClientProvider client={queries}>
      <Frame>
        <Boundary what="This page" at={location}>
          <Suspense fallback={<Loading what="the page" />}>
            <Pages />
          </Suspense>
        </Boundary>
      </Frame>
    </QueryClientProvider>
  );
}

function Pages(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <BoardPage project={null} />
      </Route>
      <Route path="/p/:project">{({ project }) => <BoardPage key={project} project={project} />}</Route>
      <Route path="/inbox">
        <InboxPage />
      </Route>
      <Route path="/a/:attempt">{({ attempt }) => <AttemptPage key={attempt} id={attempt} />}</Route>
      <Route path="/t/:task/compare">{({ task }) => <ComparePage task={task} />}</Route>
      <Route path="/t/:task">{({ task }) => <TaskPage id={task} />}</Route>
      <Route path="/settings/*?">
        {({ "*": section }) => <SettingsPage section={section ?? "general"} />}
      </Route>
      <Route path="/welcome">
        <Welcome />
      </Route>
      {/* The addresses of the older board, which people have in their notes and scripts. */}
      <Route path="/projects/:project/tasks/:task/attempts/:attempt">
        {({ attempt, task }) => (
          <Redirect to={attempt === "latest" ? `/t/${task}` : `/a/${attempt}`} replace />
        )}
      </Route>
      <Route path="/projects/:project/tasks/:task">
        {({ task }) => <Redirect to={`/t/${task}`} replace />}
      </Route>
      <Route path="/projects/:project/tasks">
        {({ project }) => <Redirect to={`/p/${project}`} replace />}
      </Route>
      <Route path="/projects/:project">{({ project }) => <Redirect to={`/p/${project}`} replace />}</Route>
      <Route path="/projects">
        <Redirect to="/" replace />
      </Route>
      <Route>
        <NotHere />
      </Route>
    </Switch>
  );
}
